/** What every delay engine does. Each runs this suite. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  createDelayEngine,
  type DelayEngine,
  type DelayEngineName,
  type DelayOptions,
  POLL_MS,
  TIMER_CAP_MS,
  type WallWatch,
} from '../../src/actors/delay/index.ts';
import type { Clock } from '../../src/actors/kernel/clock.ts';
import { TestClock } from '../../src/actors/kernel/test-clock.ts';

export interface EngineTraits {
  readonly name: DelayEngineName;
  /** Items are late by at most so much, where nothing else is. */
  readonly lateMs: number;
  /** Items of one moment leave by due time, then by insertion. */
  readonly ordered: boolean;
}

const YEAR_MS = 365.25 * 86_400_000;

export function delayConformance({ name, lateMs, ordered }: EngineTraits): void {
  const open = <Item>(options: DelayOptions<Item>): DelayEngine<Item> => createDelayEngine(name, options);

  function rig(startAtMs = 0, options: Pick<DelayOptions<string>, 'batchMs'> = {}) {
    const clock = new TestClock(startAtMs);
    const given: [string, number][] = [];
    /** How late each waking was. */
    const wakes: number[] = [];
    const engine = open<string>({
      clock,
      now: () => clock.wallMs(),
      onDue: (item) => given.push([item, clock.wallMs()]),
      watch: { look: (wokenLateMs) => void wakes.push(wokenLateMs), onLook() {} },
      ...options,
    });
    return { clock, given, wakes, engine };
  }

  describe(`delay engine: ${name}`, () => {
    test('an item is given out once, when it is due and not before', async () => {
      const { clock, given, engine } = rig();
      for (const dueMs of [5, 10.5, 20, 4096, 70_000]) engine.schedule(dueMs, `${dueMs}`);
      for (const [item] of [...given]) assert.fail(item);
      await clock.advance(100_000);
      assert.deepEqual(
        given.map(([item]) => item),
        ['5', '10.5', '20', '4096', '70000'],
      );
      for (const [item, atMs] of given) {
        const late = atMs - Number(item);
        assert.ok(late >= 0 && late <= lateMs + 1, `${item} at ${atMs}`);
      }
      assert.equal(engine.size, 0);
      engine.close();
      assert.equal(clock.timers, 0);
    });

    test('what is cancelled is not given out; a handle is good once', async () => {
      const { clock, given, engine } = rig();
      const [a, b] = ['a', 'b'].map((item) => engine.schedule(100, item));
      assert.equal(engine.cancel(a!), true);
      assert.equal(engine.cancel(a!), false);
      assert.equal(engine.size, 1);
      const again = engine.schedule(100, 'c');
      assert.notEqual(again, a, 'its place may be taken, its handle is not');
      assert.equal(engine.cancel(a!), false);
      await clock.advance(200);
      assert.deepEqual(given.map(([item]) => item).sort(), ['b', 'c']);
      assert.equal(engine.cancel(b!), false);
      engine.close();
    });

    test('what is put off or brought forward is given out at its new time, by the same handle', async () => {
      const { clock, given, engine } = rig();
      const later = engine.schedule(50, 'later');
      const sooner = engine.schedule(60_000, 'sooner');
      const gone = engine.schedule(20, 'gone');
      assert.equal(engine.reschedule(later, 400), true);
      assert.equal(engine.reschedule(sooner, 100), true);
      await clock.advance(20 + lateMs);
      assert.deepEqual(names(given), ['gone']);
      assert.equal(engine.reschedule(gone, 500), false, 'it has been given out');
      await clock.advance(200);
      assert.deepEqual(names(given), ['gone', 'sooner']);
      assert.equal(engine.reschedule(later, 300), true, 'a handle is good until its item leaves');
      assert.throws(() => engine.reschedule(later, Number.NaN), RangeError);
      await clock.advance(79 - lateMs);
      assert.equal(engine.size, 1);
      await clock.advance(1 + 2 * lateMs);
      assert.deepEqual(names(given), ['gone', 'sooner', 'later']);
      assert.equal(engine.reschedule(later, 1000), false);
      const cancelled = engine.schedule(clock.wallMs() + 50, 'cancelled');
      assert.equal(engine.cancel(cancelled), true);
      assert.equal(engine.reschedule(cancelled, clock.wallMs() + 60), false);
      await clock.advance(1000);
      assert.equal(given.length, 3);
      engine.close();
      assert.equal(clock.timers, 0);
    });

    test('a handle that was never given out is good for nothing', () => {
      const { engine } = rig();
      for (const handle of [0, -1, 0.5, Number.NaN, 2 ** 52]) {
        assert.equal(engine.cancel(handle), false, `${handle}`);
        assert.equal(engine.reschedule(handle, 1), false, `${handle}`);
      }
      engine.close();
    });

    test('with a batch threshold items are given out together: none early, none later than the threshold', async () => {
      const { clock, given, engine } = rig(1_000_000, { batchMs: 100 });
      for (let dueMs = 1_000_010; dueMs <= 1_000_100; dueMs += 10) engine.schedule(dueMs, `${dueMs}`);
      await clock.advance(300);
      assert.equal(given.length, 10);
      for (const [item, atMs] of given) {
        const late = atMs - Number(item);
        assert.ok(late >= 0 && late <= 100 + lateMs + 1, `${item} at ${atMs}`);
      }
      const moments = new Set(given.map(([, atMs]) => atMs));
      assert.ok(moments.size <= 2, `${moments.size} moments`);
      engine.close();
    });

    test('each waking says how late it was: nothing by a clock that is on time, and how long the process stood still', async () => {
      let nowMs = 0;
      let fire = (): void => {};
      const late: number[] = [];
      const clock: Clock = {
        wallMs: () => nowMs,
        monoMs: () => nowMs,
        setTimer(_delayMs, callback) {
          fire = callback;
          return { cancel() {}, unref() {} };
        },
      };
      const engine = open<number>({
        clock,
        now: () => nowMs,
        onDue: () => {},
        watch: { look: (ms) => void late.push(ms), onLook() {} },
      });
      const periodMs = Math.max(10, lateMs);
      engine.schedule(periodMs, 1);
      nowMs += periodMs + 7000;
      fire();
      assert.ok(late[0]! >= 7000 - lateMs && late[0]! <= 7000, `${late[0]} ms`);
      engine.close();

      const { clock: onTime, wakes, engine: other } = rig();
      other.schedule(40_000.5, 'a');
      await onTime.advance(60_000);
      assert.ok(wakes.length > 0 && wakes.every((ms) => ms === 0), wakes.join());
      other.close();
    });

    test('instants beyond dates, and a wall clock before 1970', async () => {
      const { clock, given, engine } = rig(1_000_000);
      const far = engine.schedule(Number.MAX_VALUE, 'far');
      engine.schedule(-Number.MAX_VALUE, 'long ago');
      await clock.advance(lateMs + 1);
      assert.deepEqual(names(given), ['long ago']);
      clock.stepWall(-70 * YEAR_MS);
      engine.schedule(clock.wallMs() + 5000, 'b');
      engine.schedule(clock.wallMs() + 70, 'a');
      await clock.advance(4999);
      assert.deepEqual(names(given), ['long ago', 'a']);
      await clock.advance(TIMER_CAP_MS + lateMs + 1);
      assert.deepEqual(names(given), ['long ago', 'a', 'b']);
      assert.equal(engine.cancel(far), true);
      engine.close();
    });

    test('what is called at a waking may put off and cancel what was due', async () => {
      const clock = new TestClock(0);
      const given: string[] = [];
      let first = true;
      const engine = open<string>({
        clock,
        now: () => clock.wallMs(),
        onDue: (item) => given.push(item),
        watch: {
          look() {
            if (!first) return;
            first = false;
            assert.equal(engine.reschedule(later, 300), true);
            assert.equal(engine.cancel(never), true);
          },
          onLook() {},
        },
      });
      const later = engine.schedule(100, 'later');
      const never = engine.schedule(100, 'never');
      engine.schedule(400, 'last');
      // A loop that polls wakes before anything is due.
      await clock.advance(299);
      assert.deepEqual(given, []);
      await clock.advance(200);
      assert.deepEqual(given, ['later', 'last']);
      engine.close();
      assert.equal(clock.timers, 0);
    });

    test('what is overdue is given out at once, what is called meanwhile may schedule and cancel', async () => {
      const clock = new TestClock(1000);
      const given: number[] = [];
      let victim = 0;
      const engine = open<number>({
        clock,
        now: () => clock.wallMs(),
        onDue(item) {
          given.push(item);
          if (item === 1) engine.cancel(victim);
          if (item < 5) engine.schedule(clock.wallMs() + 10, item + 10);
        },
      });
      engine.schedule(500, 1);
      victim = engine.schedule(1000 + 2 * lateMs + 5, 2);
      await clock.advance(lateMs + 1);
      assert.deepEqual(given, [1]);
      await clock.advance(100);
      assert.deepEqual(given, [1, 11]);
      engine.close();
    });

    test('no timer is longer than the cap, also for an instant 300 years away', () => {
      const delays: number[] = [];
      const clock: Clock = {
        wallMs: () => 0,
        monoMs: () => 0,
        setTimer(delayMs) {
          delays.push(delayMs);
          return { cancel() {}, unref() {} };
        },
      };
      const engine = open<number>({ clock, now: () => 0, onDue: () => {} });
      engine.schedule(300 * YEAR_MS, 1);
      engine.schedule(30 * 86_400_000, 2);
      assert.ok(delays.length > 0 && delays.every((delay) => delay <= TIMER_CAP_MS), delays.join());
      engine.close();
      assert.throws(() => engine.schedule(Number.POSITIVE_INFINITY, 3), RangeError);
    });

    test('a clock that is set back: nothing early; forward: what was passed over is given out', async () => {
      const { clock, given, engine } = rig(10_000_000);
      engine.schedule(10_000_000 + 60_000, 'a');
      await clock.advance(30_000);
      clock.stepWall(-3_600_000);
      engine.schedule(clock.wallMs() + 1000, 'b');
      await clock.advance(40_000);
      assert.deepEqual(names(given), ['b']);
      clock.stepWall(3_600_000);
      await clock.advance(TIMER_CAP_MS + lateMs + 1);
      assert.deepEqual(names(given), ['b', 'a']);
      engine.close();
    });

    test('a move of the clock that somebody else has seen: what is due by the new time is given out at once, nothing early', async () => {
      const clock = new TestClock(10_000_000);
      const given: string[] = [];
      const listeners: Parameters<WallWatch['onLook']>[0][] = [];
      let looks = 0;
      const engine = open<string>({
        clock,
        now: () => clock.wallMs(),
        onDue: (item) => given.push(item),
        watch: { look: () => void looks++, onLook: (listener) => void listeners.push(listener) },
      });
      const tell = async (moved: boolean): Promise<void> => {
        for (const listener of listeners) listener({ wallMs: clock.wallMs(), moved });
        await clock.advance(lateMs);
      };
      engine.schedule(10_000_000 + 3_600_000, 'hour');
      engine.schedule(10_000_000 + 7_200_000, 'hours');
      await clock.advance(1000);
      clock.stepWall(3_600_000);
      await tell(true);
      assert.deepEqual(given, ['hour']);
      clock.stepWall(-1_800_000);
      await tell(true);
      const before = looks;
      await tell(false);
      if (lateMs === 0) assert.equal(looks, before, 'a look that finds nothing wakes nobody');
      await clock.advance(3_600_000);
      assert.deepEqual(given, ['hour']);
      clock.suspend(3_600_000);
      await tell(true);
      assert.deepEqual(given, ['hour', 'hours']);
      engine.close();
      await tell(true);
      assert.equal(clock.timers, 0, 'one that is closed is not woken');
    });

    test('what an engine sees itself as it wakes is given out in that waking or the next turn', async () => {
      const clock = new TestClock(10_000_000);
      const given: [string, number][] = [];
      const listeners: Parameters<WallWatch['onLook']>[0][] = [];
      let seenMs = clock.wallMs() - clock.monoMs();
      const engine = open<string>({
        clock,
        now: () => clock.wallMs(),
        onDue: (item) => given.push([item, clock.monoMs()]),
        watch: {
          look() {
            const moved = clock.wallMs() - clock.monoMs() !== seenMs;
            seenMs = clock.wallMs() - clock.monoMs();
            for (const listener of listeners) listener({ wallMs: clock.wallMs(), moved });
          },
          onLook: (listener) => void listeners.push(listener),
        },
      });
      engine.schedule(10_000_000 + 3_600_000, 'hour');
      engine.schedule(10_000_000 + 1000, 'second');
      clock.stepWall(7_200_000);
      await clock.advance(1000 + lateMs);
      assert.deepEqual(
        given.map(([item]) => item).sort(),
        ['hour', 'second'],
        'the first timer to fire sees the step for all',
      );
      engine.close();
      assert.equal(clock.timers, 0);
    });

    test('closed, nothing is given out any more; twice is as good as once', async () => {
      const { clock, given, engine } = rig();
      engine.schedule(5, 'a');
      engine.close();
      engine.close();
      await clock.advance(100);
      assert.deepEqual([given, engine.size, clock.timers], [[], 0, 0]);
    });

    test('any mix of schedules, cancels and time: the same as a list that is looked through', async () => {
      const step = fc.oneof(
        { weight: 4, arbitrary: fc.record({ do: fc.constant('schedule' as const), inMs: delays() }) },
        { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), pick: fc.nat(100) }) },
        {
          weight: 1,
          arbitrary: fc.record({
            do: fc.constant('reschedule' as const),
            pick: fc.nat(100),
            inMs: delays(),
          }),
        },
        { weight: 2, arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.nat(9000) }) },
      );
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.nat(2 ** 40), async (steps, startAtMs) => {
          const { clock, given, engine } = rig(startAtMs);
          const model = new Map<string, { readonly dueMs: number; readonly handle: number }>();
          let count = 0;
          for (const action of steps) {
            if (action.do === 'schedule') {
              const item = `${count++}`;
              const dueMs = clock.wallMs() + action.inMs;
              // What is overdue when it comes is due from then on.
              const fromMs = Math.max(dueMs, clock.wallMs());
              model.set(item, { dueMs: fromMs, handle: engine.schedule(dueMs, item) });
            } else if (action.do === 'cancel') {
              const [item, entry] = [...model][action.pick % Math.max(1, model.size)] ?? [];
              if (item === undefined || entry === undefined) continue;
              assert.equal(engine.cancel(entry.handle), true);
              model.delete(item);
            } else if (action.do === 'reschedule') {
              const [item, entry] = [...model][action.pick % Math.max(1, model.size)] ?? [];
              if (item === undefined || entry === undefined) continue;
              const dueMs = clock.wallMs() + action.inMs;
              assert.equal(engine.reschedule(entry.handle, dueMs), true);
              model.set(item, { dueMs: Math.max(dueMs, clock.wallMs()), handle: entry.handle });
            } else {
              await clock.advance(action.ms);
              const seen = given.splice(0);
              const now = clock.wallMs();
              for (const [item, atMs] of seen) {
                const entry = model.get(item);
                assert.ok(entry !== undefined && atMs >= entry.dueMs, `${item} at ${atMs}`);
                if (entry.dueMs > now - action.ms)
                  assert.ok(atMs <= entry.dueMs + lateMs + 1, `${item} is late`);
                model.delete(item);
              }
              for (const [item, { dueMs }] of model)
                assert.ok(dueMs + lateMs + 1 > now, `${item} did not come`);
              if (ordered) assertOrdered(seen);
            }
            assert.equal(engine.size, model.size);
          }
          engine.close();
          assert.equal(clock.timers, 0);

          function assertOrdered(seen: readonly [string, number][]): void {
            for (let at = 1; at < seen.length; at++) assert.ok(seen[at]![1] >= seen[at - 1]![1]);
          }
        }),
        { numRuns: 100 },
      );
    });

    if (ordered) {
      test('items of one moment leave by due time, then in the order they came', async () => {
        const { clock, given, engine } = rig(1_000_000);
        // One that was far away when it came stands elsewhere than one that came when it was near.
        const at = 1_000_000 + 5000;
        engine.schedule(at, 'a');
        engine.schedule(at + 0.25, 'z');
        await clock.advance(4990);
        engine.schedule(at, 'b');
        engine.schedule(at - 0.25, 'before');
        engine.schedule(at, 'c');
        await clock.advance(100);
        assert.deepEqual(names(given), ['before', 'a', 'b', 'c', 'z']);
        engine.close();
      });

      test('what is rescheduled to an instant comes after those that wait for it, whatever its number', async () => {
        const { clock, given, engine } = rig(1_000_000);
        const at = 1_000_000 + 5000;
        const [a, , c] = ['a', 'b', 'c'].map((item) => engine.schedule(at, item));
        engine.schedule(at + 1000, 'd');
        assert.equal(engine.reschedule(a!, at), true);
        assert.equal(engine.reschedule(c!, at - 3000), true);
        assert.equal(engine.reschedule(c!, at), true);
        await clock.advance(5000 + lateMs);
        assert.deepEqual(names(given), ['b', 'a', 'c']);
        engine.close();
      });
    }
  });
}

function names(given: readonly (readonly [string, number])[]): readonly string[] {
  return given.map(([item]) => item);
}

/** Near and far, and around the ends of wheels. */
function delays(): fc.Arbitrary<number> {
  return fc.oneof(
    fc.nat(200),
    fc.constantFrom(63, 64, 65, 4095, 4096, 4097, 262_143, 262_144, 262_145),
    fc.nat(20_000),
    fc.double({ min: 0, max: 5000, noNaN: true }),
    fc.integer({ min: -500, max: 0 }),
  );
}

export { POLL_MS };
