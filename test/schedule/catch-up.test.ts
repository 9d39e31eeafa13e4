/** From late occurrences to runs: what is a catch-up, and what becomes of it with each overlap policy. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestClock } from '../../src/actors/kernel/test-clock.ts';
import { OverlapPolicy, occurrenceId } from '../../src/actors/runs/index.ts';
import type { MisfirePolicy } from '../../src/main/config/config.ts';
import { ClockWatch, occurrencesOf, Scheduler, TimeZones } from '../../src/main/schedule/index.ts';
import { dueOccurrences } from '../../src/main/schedule/misfire.ts';
import { setup, taskSpec } from '../runs/runs-setup.ts';
import { at, cron, HOUR_MS, MINUTE_MS, runAll, runOnce, scheduled, skip } from './scheduler-rig.ts';

const QUARTERS = cron('*/15 * * * *');

test('a catch-up is what comes late under run-all, and nothing else', () => {
  const occurrences = occurrencesOf(QUARTERS, new TimeZones());
  const firstMs = at('2026-06-01T10:00');
  const look = (policy: MisfirePolicy, lateMs: number) => {
    const { run, catchUp } = dueOccurrences({ occurrences, firstMs, nowMs: firstMs + lateMs, policy });
    return [run.length, catchUp];
  };
  for (const [policy, lateMs, expected] of [
    [runAll, 0, [1, false]],
    [runAll, 999, [1, false]],
    [runAll, 1000, [1, true]],
    [runAll, 15 * MINUTE_MS, [2, true]],
    [runAll, HOUR_MS, [5, true]],
    [{ ...runAll, graceMs: 0 }, HOUR_MS, [1, false]],
    [{ ...runAll, graceMs: 0 }, HOUR_MS + 1, [0, false]],
    [{ ...runAll, max: 2 }, HOUR_MS, [2, true]],
    [runOnce, HOUR_MS + 5000, [1, false]],
    [skip, HOUR_MS + 5000, [1, false]],
  ] as const) {
    assert.deepEqual(look(policy, lateMs), expected, `${policy.policy} ${lateMs}`);
  }
});

/** A task of every quarter of an hour, from 13:01 on. */
function machine(overlap: OverlapPolicy) {
  const clock = new TestClock(at('2026-06-01T13:01'));
  const watch = new ClockWatch(clock, () => {});
  const made = setup([taskSpec({ name: 'a', overlap })], { clock, watch, slots: 9 });
  const { runs } = made;
  const scheduler = new Scheduler({
    clock,
    watch,
    tasks: [scheduled({ name: 'a', schedule: QUARTERS, misfire: runAll })],
    onDue: ({ task, occurrenceMs: dueAtMs, origin, catchUp }) =>
      runs.due({ task, id: occurrenceId(task, dueAtMs), dueAtMs, origin, catchUp }),
    onMissed: () => assert.fail('all of them run'),
    onLost: () => assert.fail('there is always a next one'),
    onEnded: () => assert.fail('it goes on for ever'),
  });
  return { ...made, scheduler };
}

const id = (time: string) => `a@2026-06-01T${time}:00Z`;
const LATE = ['13:15', '13:30', '13:45', '14:00'].map(id);

for (const [jump, move] of [
  ['a suspend', (clock: TestClock) => clock.suspend(HOUR_MS)],
  ['a step forward', (clock: TestClock) => clock.stepWall(HOUR_MS)],
  ['a stall', (clock: TestClock) => clock.stall(HOUR_MS)],
] as const) {
  test(`${jump} of an hour with run-all: each late occurrence ends well, one behind the other`, async () => {
    for (const overlap of Object.values(OverlapPolicy)) {
      const { clock, pool, finish, settle, states, scheduler, runs } = machine(overlap);
      scheduler.start();
      await clock.advance(1000);
      move(clock);
      await clock.advance(15_000);
      for (const run of LATE) {
        assert.deepEqual([...pool.held.keys()], overlap === 'allow' ? LATE.slice(LATE.indexOf(run)) : [run]);
        finish(run);
        await settle();
      }
      for (const run of LATE) assert.equal(states(run).at(-1), 'success', `${overlap} ${run}`);
      scheduler.stop();
      runs.destroy();
    }
  });
}

test('an occurrence that comes on time while the catch-up is worked off is skipped with skip, as ever', async () => {
  const { clock, finish, settle, states, scheduler, runs } = machine('skip');
  // The daemon was down, from 12:00 on.
  scheduler.start(new Map([['a', at('2026-06-01T12:00')]]));
  await clock.advance(0);
  const late = ['12:15', '12:30', '12:45', '13:00'].map(id);
  for (const run of late.slice(0, 2)) finish(run);
  await clock.advance(14 * MINUTE_MS);
  for (const run of late.slice(2)) finish(run);
  await settle();
  assert.deepEqual(
    [...late, id('13:15')].map((run) => states(run).at(-1)),
    ['success', 'success', 'success', 'success', 'skipped'],
  );
  await clock.advance(15 * MINUTE_MS);
  assert.equal(states(id('13:30')).at(-1), 'running');
  scheduler.stop();
  runs.destroy();
});
