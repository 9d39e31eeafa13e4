/** The one timer of an engine, where the clock knows fractions of a millisecond. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DelayOptions, HeapDelayEngine, WheelDelayEngine } from '../../src/actors/delay/index.ts';
import type { Clock } from '../../src/actors/kernel/clock.ts';

interface Asked {
  readonly kind: 'whole' | 'fine';
  readonly delayMs: number;
}

/** Monotonic time that a test moves, wall time in whole milliseconds beside it, and timers that fire when they are told to. */
class FineClock implements Clock {
  mono = 0;
  wallOffset = 1_000_000_000;
  readonly asked: Asked[] = [];
  #callback: (() => void) | null = null;

  wallMs(): number {
    return Math.floor(this.mono + this.wallOffset);
  }

  monoMs(): number {
    return this.mono;
  }

  setTimer(delayMs: number, callback: () => void) {
    return this.#set({ kind: 'whole', delayMs }, callback);
  }

  setFineTimer(delayMs: number, callback: () => void) {
    return this.#set({ kind: 'fine', delayMs }, callback);
  }

  /** The timer that was asked for last fires, so much later than asked. */
  fire(lateMs = 0): void {
    const callback = this.#callback;
    this.#callback = null;
    this.mono += this.asked.at(-1)!.delayMs + lateMs;
    callback!();
  }

  get last(): Asked {
    return this.asked.at(-1)!;
  }

  #set(asked: Asked, callback: () => void) {
    this.asked.push(asked);
    this.#callback = callback;
    return { cancel() {}, unref() {} };
  }
}

type Time = 'wall' | 'mono';

function rig(time: Time, options: Partial<DelayOptions<number>> = {}) {
  const clock = new FineClock();
  const given: [number, number][] = [];
  const late: number[] = [];
  const engine = new HeapDelayEngine<number>({
    clock,
    now: () => (time === 'wall' ? clock.wallMs() : clock.monoMs()),
    onDue: (item) => given.push([item, clock.mono]),
    watch: { look: (lateMs) => void late.push(lateMs), onLook() {} },
    ...options,
  });
  return { clock, given, late, engine };
}

test('the timer is asked for to a fraction of a millisecond, and the lateness told is that of the timer', () => {
  const { clock, given, late, engine } = rig('mono');
  engine.schedule(10.4, 1);
  assert.deepEqual(clock.last, { kind: 'fine', delayMs: 10.4 });
  clock.fire(0.125);
  assert.deepEqual(given, [[1, 10.525]]);
  assert.ok(Math.abs(late[0]! - 0.125) < 1e-9, `${late[0]}`);
  engine.close();
});

test('what the wall clock lacks below a millisecond is told by monotonic time; nothing is early by the wall clock', () => {
  const { clock, given, engine } = rig('wall');
  const start = clock.wallMs();
  engine.schedule(start + 100, 1);
  clock.mono = 0.75;
  engine.schedule(start + 50, 2);
  // At 0.75 the wall clock says 0, and said so at 0.
  assert.deepEqual(clock.last, { kind: 'fine', delayMs: 49.25 });
  clock.fire();
  assert.deepEqual(given, [[2, 50]]);
  assert.deepEqual(clock.last, { kind: 'fine', delayMs: 50 });
  // The wall clock goes slower than was thought: the timer is early, and set once more.
  clock.wallOffset -= 0.5;
  clock.fire();
  assert.equal(given.length, 1);
  while (given.length === 1) {
    assert.ok(clock.last.delayMs > 0, 'it does not turn on the spot');
    clock.fire();
  }
  assert.ok(clock.mono <= 101, `${clock.mono}`);
  assert.equal(given[1]![0], 1);
  engine.close();
});

test('after a step of the wall clock the wait is as long as that clock says', () => {
  const { clock, engine } = rig('wall');
  engine.schedule(clock.wallMs() + 5000, 1);
  clock.wallOffset -= 3_600_000;
  engine.schedule(clock.wallMs() + 100, 2);
  assert.equal(clock.last.delayMs, 100);
  clock.wallOffset += 3_600_000;
  engine.schedule(clock.wallMs() + 40, 3);
  clock.fire();
  engine.schedule(clock.wallMs() + 20, 4);
  assert.equal(clock.last.delayMs, 20);
  engine.close();
});

test('items that are due one after the other wake the process 4,000 times a second and no more', () => {
  const { clock, given, engine } = rig('mono');
  for (let item = 0; item < 1000; item++) engine.schedule(100 + item / 100, item);
  while (given.length < 1000) clock.fire();
  // 10 ms, each waking a quarter of a millisecond after the one before.
  assert.ok(clock.asked.length <= 50, `${clock.asked.length} timers`);
  for (const [item, mono] of given) {
    const late = mono - (100 + item / 100);
    assert.ok(late >= 0 && late <= 0.26, `${item}: ${late}`);
  }
  engine.close();
});

test('what is left of many that are due waits for a turn of the event loop and no longer', () => {
  const { clock, given, engine } = rig('mono');
  for (let item = 0; item < 3000; item++) engine.schedule(50, item);
  clock.fire();
  assert.ok(given.length > 0 && given.length < 3000, `${given.length} in one turn`);
  while (given.length < 3000) {
    assert.deepEqual(clock.last, { kind: 'fine', delayMs: 0 });
    clock.fire();
  }
  assert.equal(given.at(-1)![1], 50);
  engine.close();
});

test('a batch that a turn cannot take is not cut into batches that wait again', () => {
  const { clock, given, engine } = rig('mono', { batchMs: 100 });
  for (let item = 0; item < 3000; item++) engine.schedule(50 + item / 100, item);
  clock.fire();
  while (given.length < 3000) clock.fire();
  assert.equal(given.at(-1)![1], 150);
  engine.close();
});

test('whole milliseconds do for a batch, for a look after the cap, and for a wheel', () => {
  const batched = rig('mono', { batchMs: 5 });
  batched.engine.schedule(10.4, 1);
  assert.deepEqual(batched.clock.last, { kind: 'whole', delayMs: 16 });
  const far = rig('mono');
  far.engine.schedule(20_000.5, 1);
  assert.deepEqual(far.clock.last, { kind: 'whole', delayMs: 15_000 });
  far.clock.fire();
  assert.deepEqual(far.clock.last, { kind: 'fine', delayMs: 5000.5 });
  const clock = new FineClock();
  const wheel = new WheelDelayEngine<number>({ clock, now: () => clock.monoMs(), onDue: () => {} });
  wheel.schedule(10.4, 1);
  assert.deepEqual(clock.last, { kind: 'whole', delayMs: 11 });
  for (const engine of [batched.engine, far.engine, wheel]) engine.close();
});

test('a receiver that throws keeps nobody else waiting', () => {
  let broken = true;
  const given: number[] = [];
  const { clock, engine } = rig('mono', {
    onDue(item) {
      if (broken) throw new Error('broken');
      given.push(item);
    },
  });
  engine.schedule(10, 1);
  engine.schedule(10, 2);
  assert.throws(() => clock.fire(), /broken/);
  broken = false;
  clock.fire();
  assert.deepEqual(given, [2]);
  engine.close();
});
