/** A daemon that is killed, and the one after it: cases R1, R4, R5 and their kind. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { DaemonProcess } from '../support/daemon-process.ts';
import { withoutTypes } from '../support/program.ts';
import { unlessStalled } from '../support/stalls.ts';
import { tempDir } from '../support/temp-dir.ts';

type RunDocument = { readonly run: string; readonly state: string; readonly attempt: number };

async function runsOf(daemon: DaemonProcess, task: string): Promise<readonly RunDocument[]> {
  const { value } = await daemon.json('runs', '--task', task);
  return (value as { runs: readonly RunDocument[] }).runs;
}

async function kill(daemon: DaemonProcess): Promise<void> {
  daemon.child.kill('SIGKILL');
  await daemon.exited;
}

/** A task that waits until the test opens its gate. */
function gated(t: TestContext, name: string) {
  const dir = tempDir(t);
  const gate = join(dir, 'gate');
  const task = { name, kind: 'io', handler: 'waits', with: { file: gate }, timeout_seconds: 600 };
  const handlers = [withoutTypes(join(import.meta.dirname, 'handlers', 'waits.ts'))];
  return { dir, task, handlers, open: () => writeFileSync(gate, 'opened') };
}

test('R1: killed in the middle of a run with overlap skip: it is interrupted, runs again, and so does its schedule', async (t) => {
  const { dir, task, handlers, open } = gated(t, 'long');
  const config = {
    handlers,
    shutdown: { grace_seconds: 600 },
    tasks: [{ ...task, overlap: 'skip', schedule: '* * * * * *', misfire: { policy: 'run-once' } }],
  };
  const first = await DaemonProcess.start(t, dir, config);
  const begun = await first.line(({ msg }) => msg === 'has begun');
  await kill(first);

  const second = await DaemonProcess.start(t, dir, config);
  const interrupted = await second.line(({ msg, run }) => msg === 'run interrupted' && run === begun.run);
  assert.equal((interrupted.error as { code: string }).code, 'daemon-lost');
  // It runs again, so the next occurrence is skipped for it.
  await second.line(({ msg, run }) => msg === 'run skipped' && run !== begun.run);
  open();
  await second.line(({ msg, run }) => msg === 'run succeeded' && run === begun.run);
  // The mark of a running run died with its process: later occurrences are not held back by it.
  await second.line(({ msg, run }) => msg === 'run succeeded' && run !== begun.run);
});

test('R4: started again and again, a task has one entry, and no occurrence two runs', async (t) => {
  const dir = tempDir(t);
  const config = {
    tasks: [
      { name: 'often', handler: 'noop', schedule: '* * * * * *' },
      { name: 'yearly', handler: 'noop', schedule: '0 0 1 1 *' },
    ],
  };
  for (let start = 0; start < 5; start++) {
    const daemon = await DaemonProcess.start(t, dir, config);
    // The last one ends in order: after a kill a run may stand as running.
    if (start % 2 === 1) await daemon.line(({ msg }) => msg === 'run succeeded');
    if (start % 2 === 1) await kill(daemon);
    else {
      daemon.child.kill('SIGTERM');
      await daemon.exited;
    }
  }
  const journal = new DatabaseSync(join(dir, 'state', 'journal.db'));
  t.after(() => journal.close());
  const rows = (sql: string) => journal.prepare(sql).all().flatMap(Object.values);
  assert.deepEqual(rows('SELECT task FROM schedules ORDER BY task'), ['often', 'yearly']);
  assert.deepEqual(rows('SELECT run FROM runs GROUP BY run HAVING count(*) > 1'), []);
  assert.deepEqual(rows("SELECT run FROM runs WHERE ended_ms IS NULL AND state = 'running'"), []);
});

test('R5: a one-shot task that was cut by a crash is done, and one that had been done is not again', async (t) => {
  await unlessStalled(t, async () => {
    const { dir, task, handlers, open } = gated(t, 'cut');
    const soon = new Date(Date.now() + 5000).toISOString();
    const config = {
      handlers,
      tasks: [
        { ...task, at: soon, timeout_seconds: 10 },
        { name: 'done', handler: 'noop', at: soon },
      ],
    };
    const first = await DaemonProcess.start(t, dir, config);
    assert.ok(Date.now() < Date.parse(soon), 'it is ready before they are due');
    await first.line(({ msg, task: of }) => msg === 'run succeeded' && of === 'done');
    await first.line(({ msg }) => msg === 'has begun');
    await kill(first);

    const second = await DaemonProcess.start(t, dir, config);
    open();
    await second.line(({ msg, task: of }) => msg === 'run succeeded' && of === 'cut');
    assert.equal((await runsOf(second, 'cut')).length, 1);
    assert.equal((await runsOf(second, 'done')).length, 1);
    assert.equal((await runsOf(second, 'done'))[0]?.attempt, 1);
  });
});

test('queued runs, retries and dead letters are there after a crash, in their order', async (t) => {
  const { dir, task, handlers, open } = gated(t, 'first');
  const config = {
    handlers,
    pools: { io: { slots: 1 } },
    tasks: [
      task,
      { ...task, name: 'next', overlap: 'allow' },
      {
        name: 'later',
        handler: 'command',
        with: { argv: ['false'] },
        max_retry: 1,
        priority: 1,
        backoff: { base_seconds: 600, cap_seconds: 600 },
      },
      { name: 'dead', handler: 'command', with: { argv: ['false'] }, max_retry: 0, priority: 1 },
    ],
  };
  const first = await DaemonProcess.start(t, dir, config);
  assert.equal((await first.command('trigger', 'dead', '--wait')).code, 1);
  await first.command('trigger', 'dead', '--in', '1h');
  await first.command('trigger', 'later');
  await first.line(({ result }) => result === 'retrying');
  await first.command('trigger', 'first');
  await first.line(({ msg }) => msg === 'has begun');
  const queued: string[] = [];
  for (let index = 0; index < 20; index++) {
    const { value } = await first.json('trigger', 'next');
    queued.push((value as { run: string }).run);
  }
  await kill(first);

  const second = await DaemonProcess.start(t, dir, config);
  const recovered = await second.line(({ msg }) => msg === 'recovered');
  assert.deepEqual(
    [recovered.runs, recovered.delayed, recovered.interrupted, recovered.dead_letters, recovered.crashed],
    [23, 1, 1, 1, true],
  );
  const { tasks } = (await second.json('tasks')).value as { tasks: { name: string; last_state: string }[] };
  assert.equal(tasks.find(({ name }) => name === 'dead')?.last_state, 'failed');
  assert.deepEqual(
    (await runsOf(second, 'later')).map(({ state }) => state),
    ['retrying'],
  );
  assert.match((await second.command('dead', 'list')).stdout, /dead@/);
  open();
  await second.line(({ run, msg }) => msg === 'run succeeded' && run === queued.at(-1));
  const order = second.lines.filter(({ msg, task: of }) => msg === 'run succeeded' && of === 'next');
  assert.deepEqual(
    order.map(({ run }) => run),
    queued,
  );
});
