/** W2 and its kind: a user's module blocks its thread for ten seconds and more, and nothing else of the daemon notices. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as passed } from 'node:timers/promises';
import type { RunView } from '../../src/actors/views/run-view.ts';
import { daemonInside } from '../support/daemon-inside.ts';
import { MachineLag, MachinePressure } from '../support/process-facts.ts';
import { StallMeter } from '../support/stalls.ts';
import { tempDir } from '../support/temp-dir.ts';

/** How long the modules block at the least, if nobody does anything about it. */
const BLOCK_MS = 10_000;
/** What a question or a tick may take while they do, beside what others take of the machine. */
const NOTICED_MS = 500;
const LOOK_EVERY_MS = 500;

type LogLine = Readonly<Record<string, unknown>>;

test('blocked by a loop and by a native call: the module is named, its thread replaced, the rest goes on', {
  timeout: 60_000,
}, async (t) => {
  let pipe = '';
  // A writer lets the threads in the native call go on; without one the process could not end.
  t.after(() => closeSync(openSync(pipe, 'r+')));
  const dir = tempDir(t);
  pipe = join(dir, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const file = join(dir, 'colibri.log');
  const blocker = { handler: 'blocker', backoff: { base_seconds: 0.01 }, overlap: 'allow' };
  const { run, live, daemon } = await daemonInside(
    t,
    {
      log: { level: 'info', file: './colibri.log' },
      metrics: { listen: '127.0.0.1:0' },
      handlers: [join(import.meta.dirname, 'handlers', 'blocker.ts')],
      shutdown: { grace_seconds: 2 },
      pools: { cpu: { threads: 2 }, io: { slots: 4 } },
      tasks: [
        { name: 'io-blocker', kind: 'io', ...blocker },
        { name: 'bystander', kind: 'io', ...blocker },
        { name: 'cpu-blocker', kind: 'cpu', timeout_seconds: 1, ...blocker },
        // A process that gets no time for a second runs what it missed: how late is another question.
        { name: 'tick', every: '1s', handler: 'noop', overlap: 'allow', misfire: { policy: 'run-all' } },
        { name: 'after', handler: 'noop' },
        { name: 'clean', handler: 'noop' },
      ],
      flows: [
        {
          name: 'blocked-flow',
          steps: [
            { task: 'cpu-blocker', with: { how: 'loop' }, max_retry: 0 },
            { task: 'after', depends_on: ['cpu-blocker'] },
            { task: 'clean', depends_on: ['after'], on_upstream_failure: 'run' },
          ],
        },
      ],
    },
    dir,
  );
  /** Of the log, once it is there. */
  const logged = async (wanted: (line: LogLine) => boolean): Promise<LogLine> => {
    for (;;) {
      const texts = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
      const found = texts.map((text) => JSON.parse(text) as LogLine).find(wanted);
      if (found !== undefined) return found;
      await passed(10);
    }
  };
  const loss = (ended: RunView) =>
    logged(({ msg, task, run }) => msg === 'thread lost' && task === ended.task && run === ended.run);
  const listening = await logged(({ msg }) => msg === 'metrics listening');
  const stalls = await StallMeter.start(t);
  const lag = new MachineLag();
  const disk = new MachinePressure(['io']);
  const takenMs = () => lag.takenMs() + stalls.takenMs();
  const beganAtMs = Date.now();
  let slowestMs = 0;
  const look = async (): Promise<void> => {
    const askedMono = performance.now();
    const page = await fetch(`http://${listening.host}:${listening.port}/metrics`);
    assert.match(await page.text(), /colibri_runs_total\{result="success",task="tick"\} [1-9]/);
    await daemon.store.ask('list', { task: 'tick', state: null, limit: 1 });
    slowestMs = Math.max(slowestMs, performance.now() - askedMono);
  };
  await run('tick', undefined, true);

  // A step of a flow is ended as any run, and its flow goes on.
  const flowMono = performance.now();
  const flowed = await run('blocked-flow');
  const flowMs = performance.now() - flowMono;
  assert.equal(flowed.state, 'failed');
  assert.ok(flowMs < 2000 + takenMs(), `expected the thread free within 2 s, got ${flowMs} ms`);
  const stepOf = (name: string) => daemon.store.ask('show', { run: `${flowed.run}/${name}` });
  assert.equal((await stepOf('cpu-blocker'))?.error?.code, 'timeout');
  assert.equal(await stepOf('after'), null);
  assert.equal((await stepOf('clean'))?.state, 'success');

  const onCpu = Promise.all((['loop', 'native'] as const).map((how) => run('cpu-blocker', { how, pipe })));
  for (const input of [
    { how: 'loop', late: true },
    { how: 'native', pipe },
  ]) {
    const stands = run('bystander', { how: 'waits' });
    while ((await live('bystander')).every(({ state }) => state !== 'running')) await passed(1);
    const startedMono = performance.now();
    const blocks = run('io-blocker', input);
    for (let over = false; !over; ) {
      await look();
      over = await Promise.race([blocks.then(() => true), passed(LOOK_EVERY_MS, false)]);
    }
    const ended = await blocks;
    assert.deepEqual([ended.state, ended.attempt], ['success', 2]);
    assert.match(String(ended.attempts[0]?.error?.message), /event loop/);
    assert.equal(ended.attempts[0]?.error?.code, 'worker-lost');
    const tookMs = performance.now() - startedMono;
    assert.ok(tookMs < BLOCK_MS + takenMs(), `expected a new thread before the old one goes on: ${tookMs}`);
    const stood = await stands;
    assert.deepEqual([stood.state, stood.attempts[0]?.error?.code], ['success', 'thread-lost-by-another']);
    const { thread, stack, error } = await loss(ended);
    assert.equal(thread, 'guest');
    if (input.how === 'loop') assert.match(String(stack), /at blockInLoop \(.*blocker\.ts:\d+:\d+\)/);
    else assert.match(String(error), /native call/);
  }
  for (const ended of await onCpu) {
    assert.deepEqual([ended.state, ended.attempt], ['success', 2]);
    assert.equal(ended.attempts[0]?.error?.code, 'timeout');
    const { thread, stack, error } = await loss(ended);
    assert.equal(thread, 'cpu');
    if (ended.input?.includes('loop'))
      assert.match(String(stack), /at blockInLoop \(.*blocker\.ts:\d+:\d+\)/);
    else assert.match(String(error), /native call/);
  }

  const seconds = Math.floor((Date.now() - beganAtMs) / 1000);
  const ticksUntilNow = async () =>
    (await daemon.store.ask('list', { task: 'tick', state: 'success', limit: 100 }))
      .filter(({ origin }) => origin === 'schedule')
      .map(({ run, startedAtMs }) => ({ dueAtMs: Date.parse(run.slice('tick@'.length)), startedAtMs }))
      .filter(({ dueAtMs }) => dueAtMs >= beganAtMs);
  let ticks = await ticksUntilNow();
  // Those of the last moment may be under way.
  for (let tries = 0; tries < 100 && ticks.length < seconds - 1; tries++) {
    await passed(10);
    ticks = await ticksUntilNow();
  }
  assert.ok(ticks.length >= seconds - 1, `${ticks.length} ticks in ${seconds} s`);
  const latestMs = Math.max(...ticks.map(({ dueAtMs, startedAtMs }) => startedAtMs! - dueAtMs));
  const boundMs = NOTICED_MS + takenMs() + disk.takenMs();
  assert.ok(Math.max(latestMs, slowestMs) < boundMs, JSON.stringify({ latestMs, slowestMs, boundMs }));
});
