/** start_at, stop_at and exclude of a task: what they become, and what is wrong with them, each at its place. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseLocalDate } from '../../src/actors/kernel/parse-time.ts';
import { load, problemsOf, warningsOf } from './config-fixtures.ts';

const task = (...lines: string[]) =>
  `tasks:\n  - name: a\n    handler: noop\n${lines.map((line) => `    ${line}\n`).join('')}`;

async function boundsOf(text: string) {
  const { schedule } = (await load(text)).config.tasks[0]!;
  return schedule === null ? null : schedule.bounds;
}

const day = (text: string) => parseLocalDate(text)!;

test('dates: those that exist, as days since 1970', () => {
  assert.deepEqual(
    ['1970-01-01', '1970-01-02', '2024-02-29', ' 2026-12-25 ', '1969-12-31', '0050-01-01'].map(
      parseLocalDate,
    ),
    [0, 1, 19_782, 20_812, -1, -701_265],
  );
  for (const text of [
    '2026-02-29',
    '2026-13-01',
    '2026-00-10',
    '2026-1-1',
    '26-01-01',
    '2026-01-01T00:00',
    '',
    'x',
  ])
    assert.equal(parseLocalDate(text), null, text);
});

test('bounds go with any kind of schedule, with the zone of the task, and dates in order and joined', async () => {
  assert.equal(await boundsOf(task('every: 5s')), undefined);
  assert.equal(await boundsOf(task('every: 5s', 'exclude: []')), undefined);
  assert.deepEqual(
    await boundsOf(
      task(
        'schedule: "@daily"',
        'time_zone: Europe/Berlin',
        'start_at: 2026-12-01T00:00:00+01:00',
        'stop_at: 2027-02-01T00:00:00Z',
        'exclude: [2027-01-06, 2026-12-24..2027-01-02, 2026-12-31..2027-01-03, 2027-01-05, 2026-11-01]',
      ),
    ),
    {
      startAtMs: Date.UTC(2026, 10, 30, 23),
      stopAtMs: Date.UTC(2027, 1, 1),
      exclude: [
        { firstDay: day('2026-11-01'), lastDay: day('2026-11-01') },
        { firstDay: day('2026-12-24'), lastDay: day('2027-01-03') },
        { firstDay: day('2027-01-05'), lastDay: day('2027-01-06') },
      ],
      timeZone: 'Europe/Berlin',
    },
  );
  const alone = { startAtMs: null, stopAtMs: null, exclude: [], timeZone: null };
  const startAtMs = Date.UTC(2026, 0, 1);
  assert.deepEqual(await boundsOf(task('every: 5s', 'start_at: 2026-01-01T00:00:00Z')), {
    ...alone,
    startAtMs,
  });
  assert.deepEqual(await boundsOf(task('at: 2026-01-01T00:00:00Z', 'exclude: ["1970-01-01"]')), {
    ...alone,
    exclude: [{ firstDay: 0, lastDay: 0 }],
  });
  const berlin = 'defaults: { time_zone: Europe/Berlin }\n';
  assert.equal(
    (await boundsOf(berlin + task('every: 1h', 'exclude: [2026-12-25]')))?.timeZone,
    'Europe/Berlin',
  );
});

test('what is no date, no instant or in the wrong order is a problem with its place and a remedy', async () => {
  const dates =
    '"expected" a date that exists such as 2026-12-25, or a range such as 2026-12-24..2027-01-02'.replaceAll(
      '"',
      '',
    );
  assert.deepEqual(
    await problemsOf(
      task(
        'every: 5s',
        'exclude:',
        '  - 2026-12-25',
        '  - 2026-02-30',
        '  - christmas',
        '  - 2026-12-24..',
        '  - 2027-01-02..2026-12-24',
        '  - 2026-01-01..2026-01-02..2026-01-03',
        '  - 20261225',
      ),
    ),
    [
      `c.yaml:7:9: tasks[0] (a).exclude[1]: ${dates}, got "2026-02-30"`,
      `c.yaml:8:9: tasks[0] (a).exclude[2]: ${dates}, got "christmas"`,
      `c.yaml:9:9: tasks[0] (a).exclude[3]: ${dates}, got "2026-12-24.."`,
      'c.yaml:10:9: tasks[0] (a).exclude[4]: expected a range whose first date is not after its last, got "2027-01-02..2026-12-24"',
      `c.yaml:11:9: tasks[0] (a).exclude[5]: ${dates}, got "2026-01-01..2026-01-02..2026-01-03"`,
      'c.yaml:12:9: tasks[0] (a).exclude[6]: expected a string, got 20261225; put it in quotes',
    ],
  );
  assert.deepEqual(
    await problemsOf(task('every: 5s', 'start_at: tomorrow', 'stop_at: 2026-01-01T00:00:00')),
    [
      'c.yaml:5:15: tasks[0] (a).start_at: expected an instant such as 2026-12-24T18:00:00Z, got "tomorrow"',
      'c.yaml:6:14: tasks[0] (a).stop_at: expected an instant with its zone, such as 2026-12-24T18:00:00Z or 2026-12-24T19:00:00+01:00, got "2026-01-01T00:00:00"',
    ],
  );
  for (const stop of ['2026-01-01T01:00:00Z', '2026-01-01T00:00:00Z']) {
    assert.deepEqual(
      await problemsOf(task('every: 5s', 'start_at: 2026-01-01T02:00:00+01:00', `stop_at: ${stop}`)),
      [
        `c.yaml:6:14: tasks[0] (a).stop_at: expected an instant after start_at, which is "2026-01-01T02:00:00+01:00", got "${stop}"; set one of them anew, or remove it`,
      ],
    );
  }
  const many = Array.from({ length: 1001 }, (_, index) => `"${2000 + index}-01-01"`).join(', ');
  assert.match(
    (await problemsOf(task('every: 5s', `exclude: [${many}]`))).join(),
    /exclude: expected a list of at most 1000 entries, got a list$/,
  );
});

test('without a schedule there is nothing to bound', async () => {
  const wanted = (key: string) =>
    `expected ${key} beside one of schedule, every and at, got none of them; add one, or remove ${key}`;
  assert.deepEqual(
    await problemsOf(task('run_on_start: true', 'stop_at: 2026-01-01T00:00:00Z', 'exclude: [2026-12-25]')),
    [
      `c.yaml:5:5: tasks[0] (a).stop_at: ${wanted('stop_at')}`,
      `c.yaml:6:5: tasks[0] (a).exclude: ${wanted('exclude')}`,
    ],
  );
});

test('a stop_at that has passed is a warning', async () => {
  const text = task('every: 5s', 'stop_at: 2026-01-01T00:00:00Z');
  const nowMs = Date.UTC(2026, 0, 1);
  assert.deepEqual(await warningsOf(text, { nowMs }), [
    'c.yaml:5:14: tasks[0] (a).stop_at: expected an instant to come, got "2026-01-01T00:00:00Z", which has passed: the task does not run by its schedule any more',
  ]);
  assert.deepEqual(await warningsOf(text, { nowMs: nowMs - 1 }), []);
  assert.deepEqual(await warningsOf(text), []);
});

test('one instant outside of its own bounds is a problem, whatever the time is', async () => {
  const at = 'at: 2026-06-01T12:00:00Z';
  const place = 'c.yaml:4:9: tasks[0] (a).at: expected an instant';
  const got = 'got "2026-06-01T12:00:00Z"; set one of them anew, or remove';
  for (const nowMs of [0, Date.UTC(2030, 0, 1)]) {
    assert.deepEqual(await problemsOf(task(at, 'start_at: 2026-06-01T14:00:01+02:00'), { nowMs }), [
      `${place} from start_at, which is "2026-06-01T14:00:01+02:00", ${got} start_at`,
    ]);
    for (const stop of ['2026-06-01T12:00:00Z', '2026-05-01T00:00:00Z']) {
      assert.deepEqual(await problemsOf(task(at, `stop_at: ${stop}`), { nowMs }), [
        `${place} before stop_at, which is "${stop}", ${got} stop_at`,
      ]);
    }
    const within = ['start_at: 2026-06-01T12:00:00Z', 'stop_at: 2026-06-01T12:00:00.001Z'];
    assert.deepEqual(await problemsOf(task(at, ...within), { nowMs }), [], 'also once it has passed');
  }
});

test('the environment may set the instants', async () => {
  const { config } = await load(task('every: 5s'), {
    env: { COLIBRI_TASKS_A_STOP_AT: '2030-01-01T00:00:00Z' },
  });
  assert.equal(config.tasks[0]?.schedule?.bounds?.stopAtMs, Date.UTC(2030, 0, 1));
});
