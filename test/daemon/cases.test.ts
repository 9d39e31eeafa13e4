/** Faults that users of such software have met and that no single part can show to be mended. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Clock } from '../../src/actors/kernel/clock.ts';
import { occurrenceId } from '../../src/actors/runs/index.ts';
import { resolveConfig, type TaskSpec } from '../../src/main/config/index.ts';
import { runsTask } from '../../src/main/runs-tasks.ts';
import { ClockWatch, Scheduler } from '../../src/main/schedule/index.ts';
import { builtInHandlers } from '../../src/workers/index.ts';
import { setup, taskSpec } from '../runs/runs-setup.ts';
import { cronFields } from '../support/cron-fields.ts';
import { DaemonProcess } from '../support/daemon-process.ts';
import { tempDir } from '../support/temp-dir.ts';

test('R2: a manual trigger obeys overlap; --force overrides it and is logged', {
  timeout: 30_000,
}, async (t) => {
  const daemon = await DaemonProcess.start(t, tempDir(t), {
    tasks: [{ name: 'long', handler: 'sleep', with: { ms: 60_000 }, timeout_seconds: 100 }],
    shutdown: { grace_seconds: 2 },
  });
  const overrides = () => daemon.lines.filter((line) => line.msg === 'overlap overridden by force');
  const running = async () => {
    const { value } = await daemon.json('runs', '--task', 'long', '--state', 'running');
    return (value as { runs: { run: string }[] }).runs.map(({ run }) => run).sort();
  };
  const trigger = async (...flags: string[]) => {
    const { code, value } = await daemon.json('trigger', 'long', ...flags);
    assert.equal(code, 0);
    return (value as { run: string }).run;
  };
  // With nothing to override, force changes nothing.
  const first = await trigger('--force');
  const refused = await daemon.command('trigger', 'long');
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /expected no run of long in progress.*overlap is skip/);
  assert.deepEqual(await running(), [first]);

  const forced = await trigger('--force');
  const line = await daemon.line(({ msg }) => msg === 'overlap overridden by force');
  assert.deepEqual([line.level, line.task, line.run], ['warn', 'long', forced]);
  assert.deepEqual(await running(), [first, forced].sort());
  assert.equal(overrides().length, 1);
});

test('ids and names that do not exist: each is refused, the daemon and what waits on it go on', async (t) => {
  const dir = tempDir(t);
  const gate = join(dir, 'gate');
  execFileSync('mkfifo', [gate]);
  const daemon = await DaemonProcess.start(t, dir, {
    tasks: [{ name: 'held', handler: 'command', with: { argv: ['cat', gate] }, timeout_seconds: 100 }],
    shutdown: { grace_seconds: 100 },
  });
  const waiting = daemon.command('trigger', 'held', '--wait');
  const begun = async () => (await daemon.command('runs', '--task', 'held', '--state', 'running')).stdout;
  while (!(await begun()).includes('held@'));
  for (let round = 0; round < 5; round++) {
    for (const name of ['cancel', 'trigger', 'show']) {
      const { code, stderr } = await daemon.command(name, 'nope');
      assert.equal(code, 1, name);
      assert.match(stderr, /nope/, name);
    }
    const { stdout, stderr } = await daemon.command('dead', 'replay', 'nope');
    assert.equal(stdout, '');
    assert.match(stderr, /nope/);
  }
  const { value } = await daemon.json('status');
  const status = value as { pid: number; undeliverable: Record<string, number>; thread_restarts: object };
  assert.equal(status.pid, daemon.child.pid);
  // An actor that is restarted gives up the message it failed at.
  assert.deepEqual(new Set(Object.values(status.undeliverable)), new Set([0]));
  assert.deepEqual(new Set(Object.values(status.thread_restarts)), new Set([0]));
  assert.deepEqual(
    daemon.lines.filter(
      // What it says of the machine is not about them.
      ({ level, msg }) => (level === 'error' || level === 'warn') && msg !== 'the process stood still',
    ),
    [],
  );
  await writeFile(gate, 'opened');
  const ended = await waiting;
  assert.equal(ended.code, 0, ended.stderr);
});

const TASKS = 200;
/** Of the product: what a user gets who writes nothing, or no more than the kind. */
const DEFAULT_RETRIES = 5;

interface Herd {
  /** Written in the config; null: nothing is. */
  readonly backoff: Readonly<Record<string, unknown>> | null;
  /** Which retry, 1 for the first. */
  readonly retry: number;
  /** What the formula allows, ms after the failure. */
  readonly from: number;
  readonly to: number;
}

const herds: readonly Herd[] = [
  ...Array.from({ length: DEFAULT_RETRIES }, (_, index) => ({
    backoff: null,
    retry: index + 1,
    from: 500 * 2 ** index,
    to: 1500 * 2 ** index,
  })),
  { backoff: { kind: 'additive' }, retry: 1, from: 1000, to: 2000 },
  { backoff: { kind: 'additive' }, retry: 5, from: 16_000, to: 17_000 },
  { backoff: { kind: 'additive', base_seconds: 50 }, retry: 5, from: 60_000, to: 61_000 },
  { backoff: { kind: 'additive', base_seconds: 50, jitter_seconds: 20 }, retry: 5, from: 60_000, to: 80_000 },
];

for (const { backoff, retry, from, to } of herds) {
  const policy = backoff === null ? 'the default backoff' : JSON.stringify(backoff);
  test(`R10: 200 tasks fail at once, ${policy}, retry ${retry}: spread over ${from} to ${to} ms`, async () => {
    const tasks = await herdOf(backoff);
    const { runs, clock, pool, events, finish, trigger, settle } = setup(tasks.map(runsTask), {
      slots: TASKS,
      queues: { ready: { capacity: TASKS, whenFull: 'block' }, retry: { capacity: TASKS } },
      random: seeded(retry),
    });
    for (const task of tasks) trigger(task.name);
    await settle();
    for (let attempt = 1; attempt <= retry; attempt++) {
      assert.equal(pool.active, TASKS);
      const failedAtMs = clock.wallMs();
      events.length = 0;
      for (const run of [...pool.held.keys()]) finish(run, { status: 'failed' });
      assert.equal(pool.active, 0);
      await clock.advance(100_000);
      if (attempt < retry) continue;
      const started = events.filter((event) => event.state === 'running');
      assert.equal(started.length, TASKS);
      assertSpread(
        started.map((event) => event.atMs - failedAtMs),
        from,
        to,
      );
    }
    runs.destroy();
  });
}

/** No second, and where the spread is small no tenth of it, has more than twice its share. */
function assertSpread(delaysMs: readonly number[], from: number, to: number): void {
  const bucketMs = Math.min(1000, (to - from) / 10);
  for (const widthMs of new Set([1000, bucketMs])) {
    const counts = new Map<number, number>();
    for (const delayMs of delaysMs) {
      // Timers are whole milliseconds.
      assert.ok(delayMs >= from - 1 && delayMs <= to + 1, `${delayMs} ms`);
      const bucket = Math.floor((delayMs - from) / widthMs);
      counts.set(bucket, (counts.get(bucket) ?? 0) + 1);
    }
    const mean = (delaysMs.length * widthMs) / (to - from);
    const most = Math.max(...counts.values());
    assert.ok(most <= 2 * mean, `${most} in ${widthMs} ms, where ${mean} are the mean`);
  }
}

async function herdOf(backoff: Herd['backoff']): Promise<readonly TaskSpec[]> {
  const more = backoff === null ? {} : { backoff };
  const raw = Array.from({ length: TASKS }, (_, index) => ({ name: `t${index}`, handler: 'noop', ...more }));
  const scope = { directory: '/', cores: 2, builtIns: builtInHandlers };
  const { config } = await resolveConfig({ state_dir: '/nowhere', tasks: raw }, scope);
  assert.equal(config.tasks[0]?.maxRetry, DEFAULT_RETRIES);
  return config.tasks;
}

/** mulberry32: the same numbers each time, so that a rare draw does not fail the suite. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

test('T15: every timer wakes 2 ms early: one run per occurrence, none before its time', async () => {
  const tick = taskSpec({ name: 'tick' });
  const { runs, clock, pool, events, finish } = setup([tick], { slots: 1 });
  const early: Clock = {
    wallMs: () => clock.wallMs(),
    monoMs: () => clock.monoMs(),
    setTimer: (delayMs, callback) => clock.setTimer(delayMs > 2 ? delayMs - 2 : delayMs, callback),
  };
  const occurrences: number[] = [];
  const scheduler = new Scheduler({
    clock: early,
    watch: new ClockWatch(early, () => assert.fail('no clock is moved')),
    tasks: [
      {
        name: 'tick',
        schedule: {
          kind: 'cron',
          expression: '* * * * * *',
          timeZone: 'UTC',
          dst: { gap: 'shift', repeat: 'first' },
          fields: cronFields('* * * * * *'),
        },
        misfire: { policy: 'run-once', graceMs: null, max: 100 },
        splayMs: 0,
        runOnStart: false,
      },
    ],
    onDue: ({ task, occurrenceMs: dueAtMs, origin }) => {
      occurrences.push(dueAtMs);
      runs.due({ task, id: occurrenceId(task, dueAtMs), dueAtMs, origin });
    },
    onMissed: () => assert.fail('nothing is missed'),
    onLost: () => assert.fail('every second has a next one'),
    onEnded: () => assert.fail('it goes on for ever'),
  });
  const startMs = clock.wallMs();
  scheduler.start();
  for (let second = 0; second < 60; second++) {
    await clock.advance(1000);
    // Over at once: what is left of it is its id.
    for (const run of [...pool.held.keys()]) finish(run);
  }
  const seconds = Array.from({ length: 60 }, (_, index) => startMs + 1000 * (index + 1));
  assert.deepEqual(occurrences, seconds);
  const started = events.filter((event) => event.state === 'running');
  assert.deepEqual(
    started.map((event) => event.run),
    seconds.map((atMs) => occurrenceId('tick', atMs)),
  );
  for (const [index, event] of started.entries()) assert.ok(event.atMs >= seconds[index]!);
  scheduler.stop();
  runs.destroy();
});
