/** T12 and T18: instants that are far away, and thousands that come at once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DUE_PER_TURN, TIMER_CAP_MS } from '../../src/actors/delay/delay-engine.ts';
import type { Clock } from '../../src/actors/kernel/clock.ts';
import { GarbageCollector } from '../../src/actors/kernel/index.ts';
import { occurrenceId } from '../../src/actors/runs/index.ts';
import { ClockWatch, Scheduler } from '../../src/main/schedule/index.ts';
import { setup, taskSpec } from '../runs/runs-setup.ts';
import { at, cron, DAY_MS, every, HOUR_MS, iso, scheduled, start } from './scheduler-rig.ts';

/** Fires its timers one after the other without a turn of the event loop between them: a month takes no time. */
class QuickClock implements Clock {
  readonly delays: number[] = [];
  #wall: number;
  #mono = 0;
  #suspended = 0;
  #timer: { readonly dueMono: number; readonly callback: () => void } | null = null;

  constructor(startAtMs: number) {
    this.#wall = startAtMs;
  }

  wallMs = (): number => this.#wall;
  monoMs = (): number => this.#mono;
  suspendedMs = (): number => this.#suspended;

  /** One at a time. */
  setTimer(delayMs: number, callback: () => void) {
    const timer = { dueMono: this.#mono + delayMs, callback };
    this.#timer = timer;
    this.delays.push(delayMs);
    const cancel = () => {
      if (this.#timer === timer) this.#timer = null;
    };
    return { cancel, unref: () => {} };
  }

  runTo(wallMs: number): void {
    for (;;) {
      const timer = this.#timer;
      const passMs = timer === null ? Number.POSITIVE_INFINITY : timer.dueMono - this.#mono;
      const stepMs = Math.min(passMs, wallMs - this.#wall);
      this.#wall += stepMs;
      this.#mono += stepMs;
      if (timer === null || passMs > stepMs) return;
      this.#timer = null;
      timer.callback();
    }
  }

  sleepTo(wallMs: number): void {
    this.#suspended += wallMs - this.#wall;
    this.#wall = wallMs;
  }
}

test('T12: next due in 30 days and in 300 years: no timer above the cap, and no run early', () => {
  const clock = new QuickClock(at('2026-06-01T00:00'));
  const month = at('2026-07-01T00:00');
  const far = at('2326-06-01T00:00');
  const { due, scheduler } = start(
    [
      scheduled({ name: 'month', schedule: cron('0 0 1 7 *') }),
      scheduled({ name: 'once', schedule: { kind: 'at', atMs: month } }),
      scheduled({ name: 'interval', schedule: every(30 * DAY_MS) }),
      scheduled({ name: 'far', schedule: { kind: 'at', atMs: far } }),
    ],
    clock,
  );
  clock.runTo(month - 1);
  const intervals = due.filter(([task]) => task === 'interval').map(([, occurrence]) => occurrence);
  assert.ok(intervals.length === 1 && intervals[0]! % (30 * DAY_MS) === 0);
  assert.equal(due.length, 1, 'nothing else yet');
  clock.runTo(month + HOUR_MS);
  assert.deepEqual(due.slice(1).sort(), [
    ['month', month, month],
    ['once', month, month],
  ]);
  assert.equal(scheduler.nextOf('far'), far);
  clock.sleepTo(far - HOUR_MS);
  clock.runTo(far - 1);
  assert.ok(!due.some(([task]) => task === 'far'));
  clock.runTo(far + HOUR_MS);
  assert.deepEqual(
    due.filter(([task]) => task === 'far'),
    [['far', far, far]],
  );
  for (const [task, occurrence, givenAtMs] of due) assert.ok(givenAtMs >= occurrence, task);
  assert.ok(Math.max(...new Set(clock.delays)) <= TIMER_CAP_MS);
  assert.ok(clock.delays.length > (30 * DAY_MS) / TIMER_CAP_MS, 'it did wait');
  scheduler.stop();
});

const TASKS = 5000;
/** Of the event loop, and here of the processor: what others take of it is not this one's. */
const HELD_MS = 50;

/** Runs of 5,000 tasks through the runs, with slots for all of them; what each timer's turn took. */
function many(instantOf: (index: number) => number) {
  const names = Array.from({ length: TASKS }, (_, index) => `t${index}`);
  const rig = setup(
    names.map((name) => taskSpec({ name })),
    { slots: TASKS, queues: { ready: { capacity: 2 * TASKS, whenFull: 'block' } } },
  );
  const { runs, clock } = rig;
  const turns: { readonly cpuMs: number; readonly due: number }[] = [];
  let due = 0;
  const timed: Clock = {
    wallMs: () => clock.wallMs(),
    monoMs: () => clock.monoMs(),
    setTimer: (delayMs, callback) =>
      clock.setTimer(delayMs, () => {
        const before = due;
        const usage = process.threadCpuUsage();
        callback();
        const { user, system } = process.threadCpuUsage(usage);
        turns.push({ cpuMs: (user + system) / 1000, due: due - before });
      }),
  };
  const scheduler = new Scheduler({
    clock: timed,
    watch: new ClockWatch(timed, () => {}),
    tasks: names.map((name, index) =>
      scheduled({ name, schedule: { kind: 'at', atMs: clock.wallMs() + instantOf(index) } }),
    ),
    onDue({ task, occurrenceMs: dueAtMs, origin }) {
      due++;
      runs.due({ task, id: occurrenceId(task, dueAtMs), dueAtMs, origin });
    },
    onMissed: () => assert.fail('nothing is missed'),
    onLost: () => assert.fail('an instant is not lost'),
    onEnded: () => assert.fail('a one-shot has no stop_at'),
  });
  scheduler.start();
  // What other tests have left behind is not to be collected in one of the turns.
  new GarbageCollector().collect();
  return { ...rig, turns, scheduler };
}

/**
 * Does it up to three times, until its longest turn is short: a collection of what the whole process holds may fall into
 * one. A turn that does too much is as long each time.
 */
async function assertHeldShortly(scenario: () => Promise<ReturnType<typeof many>>): Promise<void> {
  const longest: number[] = [];
  do {
    const { turns, scheduler, runs } = await scenario();
    for (const { due } of turns) assert.ok(due <= DUE_PER_TURN, `${due} in one turn`);
    // The first turns are those of code that never ran before.
    longest.push(Math.max(...turns.map(({ cpuMs }) => cpuMs)));
    scheduler.stop();
    runs.destroy();
  } while (longest.length < 3 && Math.min(...longest) >= HELD_MS);
  assert.ok(Math.min(...longest) < HELD_MS, `turns took ${longest.join(', ')} ms of the processor`);
}

test('T18: 5,000 tasks due in the same second, late all of them: in turns, all started, oldest first', async () => {
  await assertHeldShortly(async () => {
    // In no order, over the whole second.
    const rig = many((index) => 5000 + ((index * 7919) % 1000));
    const { clock, pool } = rig;
    clock.stall(6000);
    await clock.advance(1000);
    assert.equal(pool.taken.length, TASKS);
    const instants = pool.taken.map(({ run }) => Date.parse(run.slice(run.indexOf('@') + 1)));
    assert.deepEqual(
      instants,
      instants.toSorted((a, b) => a - b),
    );
    assert.equal(new Set(instants).size, 1000, `from ${iso(instants[0]!)} on`);
    return rig;
  });
});

test('T18: 5,000 tasks due at the same instant: in turns, all started, in their order', async () => {
  await assertHeldShortly(async () => {
    const rig = many(() => 5000);
    const { clock, turns, pool } = rig;
    await clock.advance(6000);
    assert.deepEqual(
      pool.taken.map(({ task }) => task),
      Array.from({ length: TASKS }, (_, index) => `t${index}`),
    );
    assert.deepEqual(
      turns.map(({ due }) => due),
      Array.from({ length: Math.ceil(TASKS / DUE_PER_TURN) }, (_, turn) =>
        Math.min(DUE_PER_TURN, TASKS - turn * DUE_PER_TURN),
      ),
    );
    return rig;
  });
});
