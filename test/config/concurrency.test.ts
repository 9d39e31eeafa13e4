/** Bounds on runs at one time, as they are written. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keyReader, MAX_KEY_LENGTH } from '../../src/main/concurrency-key.ts';
import { parseRate } from '../../src/main/config/resolve-concurrency.ts';
import { runsTask } from '../../src/main/runs-tasks.ts';
import { load, problemsOf, warningsOf } from './config-fixtures.ts';

const task = (...lines: string[]) =>
  ['tasks:', '  - name: a', '    handler: noop', ...lines.map((line) => `    ${line}`), ''].join('\n');
const only = async (text: string, expected: string) => assert.deepEqual(await problemsOf(text), [expected]);

test('rates', () => {
  assert.deepEqual(parseRate('100/min'), { count: 100, perMs: 60_000 });
  assert.deepEqual(parseRate(' 5 / s '), { count: 5, perMs: 1000 });
  assert.deepEqual(parseRate('30/10s'), { count: 30, perMs: 10_000 });
  assert.deepEqual(parseRate('1/1m30s'), { count: 1, perMs: 90_000 });
  assert.deepEqual(parseRate('1000/day'), { count: 1000, perMs: 86_400_000 });
  for (const wrong of [
    '',
    '100',
    '100/',
    '/min',
    '0/min',
    '-1/s',
    '1.5/s',
    '100/10',
    '100/fortnight',
    '1/0s',
    '1/2s3',
  ]) {
    assert.match((parseRate(wrong) as { problem: string }).problem, /^a rate such as/, wrong);
  }
  assert.match((parseRate('1/32d') as { problem: string }).problem, /31 days/);
  assert.match((parseRate('11/1ms') as { problem: string }).problem, /10000\/s/);
});

test('all bounds load', async () => {
  const { config } = await load(
    `concurrency: 50
groups: { api: { concurrency: 10, rate: 100/min, burst: 5 }, mail: { rate: 1/s }, db: { concurrency: 2 } }
queues: { ready: { high_water: 0.8, low_water: 0.5, ageing_seconds: 1.5 } }
${task('group: api', 'overlap: allow', 'concurrency: 3', 'concurrency_key: "{{ payload.customer }}"', 'concurrency_per_key: 2')}`,
  );
  assert.equal(config.concurrency, 50);
  assert.deepEqual(config.groups, {
    api: { concurrency: 10, rate: { count: 100, perMs: 60_000, burst: 5 } },
    mail: { rate: { count: 1, perMs: 1000, burst: 1 } },
    db: { concurrency: 2 },
  });
  assert.deepEqual(config.queues.ready.watermarks, { high: 0.8, low: 0.5 });
  assert.equal(config.queues.ready.ageingMs, 1500);
  const { bounds } = runsTask(config.tasks[0]!);
  assert.deepEqual([bounds?.concurrency, bounds?.key?.concurrency], [3, 2]);
  assert.equal(bounds?.key?.keyOf('{"customer":"x"}'), 'x');
  assert.equal(runsTask((await load(task())).config.tasks[0]!).bounds, undefined);
});

test('what is wrong with a bound is told at its place, with what to do', async () => {
  await only(
    'groups: { g: {} }\n',
    'c.yaml:1:14: groups.g: expected concurrency, rate or both, got neither; add concurrency: 10',
  );
  await only(
    'groups: { g: { concurrency: 1, burst: 2 } }\n',
    'c.yaml:1:32: groups.g.burst: expected burst beside a rate, got it alone; add rate, or remove burst',
  );
  await only(
    'groups: { g: { rate: 100 per min } }\n',
    'c.yaml:1:22: groups.g.rate: expected a rate such as 100/min, 5/s, 1000/hour or 30/10s, got "100 per min"',
  );
  await only('concurrency: 0\n', 'c.yaml:1:14: concurrency: expected an integer from 1 to 1000000, got 0');
  await only(
    'queues: { ready: { high_water: 0.5, low_water: 0.5 } }\n',
    'c.yaml:1:48: queues.ready.low_water: expected low_water to be less than high_water (0.5), got 0.5; lower it, or raise high_water',
  );
  const allow = 'overlap: allow';
  await only(
    task(allow, 'concurrency_per_key: 2'),
    'c.yaml:5:5: tasks[0] (a).concurrency_per_key: expected concurrency_per_key beside concurrency_key, got it alone; add concurrency_key, or remove it',
  );
  await only(
    task(allow, 'concurrency_key: all'),
    'c.yaml:5:22: tasks[0] (a).concurrency_key: expected a template such as {{ payload.customer }}, got "all", which is one key for all runs; say concurrency in place of it',
  );
  await only(
    task(allow, 'concurrency_key: "{{ steps.x.result }}"'),
    'c.yaml:5:22: tasks[0] (a).concurrency_key: expected {{ payload… }}, the input of the run, got {{ steps… }}, which only a step of a flow has',
  );
  await only(
    task(allow, 'concurrency_key: "{{ paylod.x }}"'),
    'c.yaml:5:22: tasks[0] (a).concurrency_key: expected payload, steps, item or flow, got "paylod"; did you mean "payload"?',
  );
});

test('a bound that overlap leaves nothing to do for is a warning', async () => {
  assert.deepEqual(await warningsOf(task('concurrency: 2')), [
    'c.yaml:4:5: tasks[0] (a).concurrency: expected overlap: allow beside concurrency, got skip: it lets one run of the task be in progress; say overlap: allow, or remove concurrency',
  ]);
  for (const more of [['overlap: allow', 'concurrency: 2'], ['overlap: queue-all']]) {
    assert.deepEqual(await warningsOf(task(...more)), []);
  }
  assert.deepEqual(await warningsOf(`defaults: { overlap: allow }\n${task('concurrency: 2')}`), []);
});

test('the key of a run: what its input has there, the empty one where it has nothing, of a long one its digest', async () => {
  const { config } = await load(
    task('overlap: allow', 'concurrency_key: "{{ payload.region }}/{{ payload.customer }}"'),
  );
  const keyOf = keyReader(config.tasks[0]!.bounds!.key!.parts);
  const key = (value: unknown) => keyOf(JSON.stringify(value));
  assert.equal(key({ region: 'eu', customer: 7 }), 'eu/7');
  assert.equal(key({ region: 'eu', customer: { id: 7 } }), 'eu/{"id":7}');
  for (const lacking of [{ region: 'eu' }, {}, [], 'text', null]) assert.equal(key(lacking), '');
  const long = (end: string) => key({ region: 'x'.repeat(100_000), customer: end });
  assert.ok(long('1').length <= MAX_KEY_LENGTH);
  assert.equal(long('1'), long('1'));
  assert.notEqual(long('1'), long('2'));
});
