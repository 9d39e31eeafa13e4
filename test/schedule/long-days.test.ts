/** Days of 25 and of 23 hours, lived through: the exact set of runs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestClock } from '../../src/actors/kernel/test-clock.ts';
import type { DstPolicy } from '../../src/main/config/config.ts';
import { at, cron, every, given, HOUR_MS, instants, iso, scheduled, start } from './scheduler-rig.ts';

const dst = (gap: DstPolicy['gap'], repeat: DstPolicy['repeat']): DstPolicy => ({ gap, repeat });

test('a day of 25 hours and one of 23, Europe/Berlin: each gap and repeat policy, hourly, and every hour', async () => {
  const days = [
    { startText: '2026-10-24T22:00', hours: 25 },
    { startText: '2026-03-28T23:00', hours: 23 },
  ];
  // 02:30 comes at 00:30 and 01:30 UTC on the long day; on the short one clocks go from 02:00 to 03:00 at 01:00 UTC.
  const expected: Readonly<Record<string, readonly [long: string, short: string]>> = {
    'shift first': ['2026-10-25T00:30', '2026-03-29T01:00'],
    'shift last': ['2026-10-25T01:30', '2026-03-29T01:00'],
    'shift both': ['2026-10-25T00:30 01:30', '2026-03-29T01:00'],
    'skip first': ['2026-10-25T00:30', ''],
    'skip last': ['2026-10-25T01:30', ''],
    'skip both': ['2026-10-25T00:30 01:30', ''],
  };
  for (const [index, { startText, hours }] of days.entries()) {
    const clock = new TestClock(at(startText));
    const tasks = Object.keys(expected).map((name) => {
      const [gap, repeat] = name.split(' ') as [DstPolicy['gap'], DstPolicy['repeat']];
      return scheduled({ name, schedule: cron('30 2 * * *', 'Europe/Berlin', dst(gap, repeat)) });
    });
    const rig = start(
      [
        ...tasks,
        scheduled({ name: 'hourly', schedule: cron('0 * * * *', 'Europe/Berlin') }),
        scheduled({ name: 'every', schedule: every(HOUR_MS) }),
      ],
      clock,
    );
    await clock.advance(hours * HOUR_MS);
    for (const [name, texts] of Object.entries(expected)) {
      assert.deepEqual(given(rig, name), instants(texts[index]!), `${name}, ${hours} hours`);
    }
    const all = Array.from({ length: hours }, (_, hour) => iso(at(startText) + (hour + 1) * HOUR_MS));
    assert.deepEqual(given(rig, 'hourly'), all);
    assert.deepEqual(given(rig, 'every'), all);
    assert.deepEqual([rig.missed, rig.jumps], [[], []]);
    rig.scheduler.stop();
  }
});
