/** Rates: never more than they say, whatever the clocks do. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RateLimit } from '../../src/actors/runs/rate-limit.ts';
import { byKey, NO_BOUNDS, queueSetup, taskOf } from './queue-setup.ts';

test('within any time t at most burst + t / interval begin, and one that comes late enough begins', () => {
  fc.assert(
    fc.property(
      fc.record({
        count: fc.integer({ min: 1, max: 50 }),
        perMs: fc.integer({ min: 1, max: 10_000 }),
        burst: fc.integer({ min: 1, max: 20 }),
      }),
      fc.array(fc.nat(1000), { maxLength: 200, size: 'max' }),
      (spec, waits) => {
        const rate = new RateLimit(spec, 0);
        const intervalMs = spec.perMs / spec.count;
        const begun: number[] = [];
        let nowMono = 0;
        for (const wait of waits) {
          nowMono += wait;
          if (rate.openMono > nowMono) {
            assert.ok(rate.openMono - nowMono <= intervalMs * (1 + 1e-9), 'never longer than one interval');
            continue;
          }
          rate.take(nowMono);
          begun.push(nowMono);
        }
        for (let first = 0; first < begun.length; first++) {
          for (let last = first; last < begun.length; last++) {
            const most = spec.burst + (begun[last]! - begun[first]!) / intervalMs;
            assert.ok(last - first + 1 <= most + 1e-6);
          }
        }
      },
    ),
    { numRuns: 100 },
  );
});

const rated = (burst: number) => queueSetup({ groups: { r: { rate: { count: 10, perMs: 1000, burst } } } });
const task = taskOf({ name: 'a', group: 'r' });

/** How many begin now. */
function begin({ queue }: ReturnType<typeof rated>): number {
  let count = 0;
  while (queue.take('io') !== null) count++;
  return count;
}

test('a start gives one, then one an interval; a pause makes up for no more than the burst', async () => {
  const setup = rated(3);
  for (let count = 0; count < 50; count++) setup.push(task);
  assert.equal(begin(setup), 1);
  await setup.clock.advance(99);
  assert.equal(begin(setup), 0);
  await setup.clock.advance(1);
  assert.equal(begin(setup), 1);
  await setup.clock.advance(10_000);
  assert.equal(begin(setup), 3);
  assert.equal(setup.rooms(), 2, 'woken when there is room, not before and not again');
});

test('no step of the wall clock, no suspend and no stall lets more begin', async () => {
  const setup = rated(2);
  const { clock } = setup;
  for (let count = 0; count < 50; count++) setup.push(task);
  begin(setup);
  for (const stepMs of [3_600_000, -7_200_000]) {
    clock.stepWall(stepMs);
    await clock.advance(0);
    assert.equal(begin(setup), 0);
    await clock.advance(100);
    assert.equal(begin(setup), 1);
  }
  clock.suspend(86_400_000);
  await clock.advance(0);
  assert.equal(begin(setup), 0, 'a suspend is no time');
  clock.stall(60_000);
  await clock.advance(0);
  assert.equal(begin(setup), 2, 'a stall is, up to the burst');
});

test('a rate set anew gives nothing for the time before; one that stays goes on', async () => {
  const setup = rated(1);
  const { clock, queue } = setup;
  for (let count = 0; count < 9; count++) setup.push(task);
  begin(setup);
  const slow = { r: { rate: { count: 1, perMs: 1000, burst: 5 } } };
  for (const groups of [slow, { r: { rate: { count: 10, perMs: 1000, burst: 1 } } }, slow]) {
    queue.rebound({ ...NO_BOUNDS, groups }, []);
    assert.equal(begin(setup), 0);
  }
  await clock.advance(100);
  assert.equal(begin(setup), 1, 'when the first rate would have let it');
  await clock.advance(999);
  assert.equal(begin(setup), 0);
  await clock.advance(1);
  assert.equal(begin(setup), 1);
  queue.close();
  assert.equal(clock.timers, 0);
});

test('a rate holds back its group alone, and every attempt counts', async () => {
  const setup = queueSetup({ groups: { r: { concurrency: 2, rate: { count: 1, perMs: 100, burst: 1 } } } });
  const { queue, clock, push } = setup;
  const keyed = taskOf({ name: 'k', group: 'r', bounds: { concurrency: null, key: byKey(1) } });
  const [one, two] = [push(keyed, 'x'), push(keyed, 'x')];
  const free = push(taskOf({ name: 'free' }));
  assert.equal(queue.take('io'), one);
  assert.equal(queue.take('io'), free);
  queue.release(one);
  assert.equal(queue.take('io'), null, 'its key is free, the rate is not');
  await clock.advance(100);
  assert.equal(queue.take('io'), two);
});
