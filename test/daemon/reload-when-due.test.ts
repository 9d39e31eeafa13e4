/** T19: a reload in the last second before a task is due, whatever comes of it: the task is neither missed nor doubled. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DaemonProcess, writeConfig } from '../support/daemon-process.ts';
import { tempDir } from '../support/temp-dir.ts';

/** A process that gets no time for a second runs what it missed. */
const always = { handler: 'noop', overlap: 'allow', misfire: { policy: 'run-all' } };
const CONFIG = {
  tasks: [
    { name: 'cron', ...always, schedule: '* * * * * *' },
    { name: 'every', ...always, every: '1s' },
  ],
};

test('T19: reloaded within a second before tasks are due: each occurrence has its run, and one only', {
  timeout: 30_000,
}, async (t) => {
  const dir = tempDir(t);
  const daemon = await DaemonProcess.start(t, dir, CONFIG);
  const runs = (task: string) =>
    daemon.lines
      .filter((line) => line.msg === 'run succeeded' && line.task === task)
      .map(({ run }) => `${run}`);
  const next = (task: string) => {
    const seen = new Set(runs(task));
    return daemon.line(
      (line) => line.msg === 'run succeeded' && line.task === task && !seen.has(`${line.run}`),
    );
  };
  await Promise.all([next('cron'), next('every')]);
  for (const [config, code] of [
    [CONFIG, 0],
    [{ tasks: [{ ...CONFIG.tasks[0], schedule: '0 * * * * *' }] }, 1],
    [{ ...CONFIG, bogus: 1 }, 78],
  ] as const) {
    writeConfig(dir, config);
    assert.equal((await daemon.command('reload')).code, code);
    await Promise.all([next('cron'), next('every')]);
  }
  const secondOf = (run: unknown) => Date.parse(`${run}`.slice(`${run}`.indexOf('@') + 1)) / 1000;
  for (const task of ['cron', 'every']) {
    const seen = runs(task).map(secondOf);
    const first = Math.min(...seen);
    const last = Math.max(...seen);
    assert.ok(last - first >= 3);
    // Of those that are late together the newer may end first.
    for (let second = first; second <= last; second++) {
      await daemon.line(
        ({ msg, task: of, run }) => msg === 'run succeeded' && of === task && secondOf(run) === second,
      );
    }
    const ended = runs(task);
    assert.equal(new Set(ended.map(secondOf)).size, ended.length, `one run each: ${ended.join(', ')}`);
  }
});
