import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TestClock } from '../../src/actors/kernel/index.ts';
import {
  DEAD_LETTER_WINDOW_MS,
  DEAD_LETTERS_TOLERATED,
  DEATHS_KEPT,
  DeadLetterAlarm,
} from '../../src/actors/telemetry/dead-letter-alarm.ts';
import { event, type Rig, rig } from './fixtures.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

async function die({ send }: Rig, times: number, task = 'hash'): Promise<void> {
  const events = Array.from({ length: times }, () => event({ task, state: 'failed', dead: true }));
  await send('runs', { events });
}

const alarms = async ({ lines }: Rig) => (await lines()).filter(({ msg }) => msg === 'many dead letters');

test('ten within five minutes are borne, the eleventh makes one line', async () => {
  const clock = new TestClock();
  const made = rig(clock);
  await die(made, 10);
  assert.deepEqual(await alarms(made), []);
  await clock.advance(299 * SECOND);
  await die(made, 1);
  assert.deepEqual(await alarms(made), [
    {
      level: 'warn',
      time: '2026-01-01T00:04:59.000Z',
      count: 11,
      window_seconds: 300,
      tasks: ['hash'],
      msg: 'many dead letters',
    },
  ]);
});

test('by rate, not by number: what died five minutes ago does not count', async () => {
  const clock = new TestClock();
  const made = rig(clock);
  for (let minutes = 0; minutes < 60; minutes += 5) {
    await die(made, 10);
    await clock.advance(5 * MINUTE);
  }
  assert.deepEqual(await alarms(made), []);
});

test('a failed run that is no dead letter does not count', async () => {
  const made = rig(new TestClock());
  await made.send('runs', { events: Array.from({ length: 50 }, () => event({ state: 'failed' })) });
  assert.deepEqual(await alarms(made), []);
});

test('at most one line in five minutes, then one for what came since', async () => {
  const clock = new TestClock();
  const made = rig(clock);
  for (let minute = 0; minute < 10; minute++) {
    await die(made, 20);
    await clock.advance(MINUTE);
  }
  const told = await alarms(made);
  assert.deepEqual(
    told.map(({ time, count }) => [time, count]),
    [
      ['2026-01-01T00:00:00.000Z', 20],
      ['2026-01-01T00:05:00.000Z', 100],
    ],
  );
  await clock.advance(60 * MINUTE);
  await die(made, 11);
  assert.equal((await alarms(made)).length, 3);
});

test('the line names the worst few tasks, and no name that is not in the config', async () => {
  const tasks = ['a', 'b', 'c', 'd', 'e', 'f'];
  const made = rig(new TestClock(), { tasks });
  const events = [...tasks, 'gone', 'gone', 'lost'].flatMap((task, index) =>
    Array.from({ length: index + 1 }, () => event({ task, state: 'failed', dead: true })),
  );
  await made.send('runs', { events });
  const [line] = await alarms(made);
  assert.equal(line?.count, 45);
  assert.deepEqual(line?.tasks, ['_other', 'f', 'e', 'd', 'c']);
});

test('a flood is kept to its bound, and told as so many', () => {
  const alarm = new DeadLetterAlarm();
  for (let i = 0; i < 10 * DEATHS_KEPT; i++) alarm.count('hash', 0);
  assert.equal(alarm.take(0)?.count, DEATHS_KEPT);
});

test('any sequence of deaths: a line exactly where more than ten are in the window and none was told within it', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 60_000 }), { maxLength: 200 }), (gaps) => {
      const alarm = new DeadLetterAlarm();
      const deaths: number[] = [];
      let now = 0;
      let toldAt = Number.NEGATIVE_INFINITY;
      for (const gap of gaps) {
        now += gap;
        deaths.push(now);
        alarm.count('hash', now);
        const count = deaths.filter((at) => now - at < DEAD_LETTER_WINDOW_MS).length;
        const due = count > DEAD_LETTERS_TOLERATED && now - toldAt >= DEAD_LETTER_WINDOW_MS;
        assert.equal(alarm.take(now)?.count ?? null, due ? count : null);
        if (due) toldAt = now;
      }
    }),
  );
});
