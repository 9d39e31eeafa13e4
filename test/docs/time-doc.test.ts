/** docs/time.md against the code: fields, words, policies, and the instants of its tables. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CronExpressionParser } from 'cron-parser';
import { configSchema } from '../../src/main/config/schema.ts';
import { CronOccurrences, TimeZones } from '../../src/main/schedule/index.ts';
import { parseCron } from '../../src/main/schedule/parse/index.ts';
import { cronFields } from '../support/cron-fields.ts';
import { codeSpans, plain, readDocument, rowsBelow, sections, tableRows } from './markdown.ts';

const text = readDocument('docs/time.md');
const zones = new TimeZones();

interface Question {
  readonly expression: string;
  readonly zone: string;
  readonly policy: string;
  readonly asked: string;
}

function nextInstants({ expression, zone, policy, asked }: Question, count: number): string[] {
  const [gap, repeat] = policy.split(', ') as ['shift' | 'skip', 'first' | 'last' | 'both'];
  const cron = new CronOccurrences(cronFields(expression), zones.zone(zone), { gap, repeat });
  const found: string[] = [];
  for (let at = cron.next(Date.parse(asked)); at !== null && found.length < count; at = cron.next(at)) {
    found.push(`${new Date(at).toISOString().slice(0, 16)}Z`);
  }
  return found;
}

test('the instants of the table of policies are those of the code', () => {
  const rows = rowsBelow(text, 'Changes of the clocks').filter(
    (row) => row.length === 5 && row[1] !== 'zone',
  );
  assert.ok(rows.length > 8);
  for (const [expression = '', zone = '', policy = '', asked = '', instants = ''] of rows) {
    const expected = instants.split(' ');
    const question = { expression: plain(expression), zone, policy, asked };
    assert.deepEqual(nextInstants(question, expected.length), expected, JSON.stringify(question));
  }
});

test('the policies are those of the schema', () => {
  const rows = rowsBelow(text, 'Changes of the clocks').filter((row) => row.length === 3);
  const listed = Map.groupBy(rows, ([key = '']) => plain(key));
  const { gap, repeat } = configSchema.properties?.tasks?.items?.properties?.dst?.properties ?? {};
  for (const [key, schema] of [
    ['dst.gap', gap],
    ['dst.repeat', repeat],
  ] as const) {
    assert.deepEqual(
      listed.get(key)?.map(([, value = '']) => plain(value)),
      schema?.enum,
    );
  }
});

test('what stands beside cron-parser is what both answer', () => {
  const rows = rowsBelow(text, 'Beside cron-parser');
  assert.ok(rows.length > 4);
  for (const [expression = '', zone = '', asked = '', theirs = '', ours = ''] of rows) {
    const question = { expression: plain(expression), zone, policy: 'shift, first', asked };
    assert.deepEqual(nextInstants(question, 1), [ours], JSON.stringify(question));
    const parsed = CronExpressionParser.parse(question.expression, {
      currentDate: new Date(asked),
      tz: zone,
    });
    const [instant] = /^\d{4}-\S+Z/.exec(theirs) ?? [];
    if (theirs.startsWith('none: ')) assert.throws(() => parsed.next(), /loop limit exceeded/);
    else if (instant !== undefined) assert.equal(`${parsed.next().toISOString()?.slice(0, 16)}Z`, instant);
  }
});

test('words are those of the parser, and mean what they are said to', () => {
  const listed = rowsBelow(text, 'Words').flatMap(([words = '', same = '']) =>
    plain(words)
      .split(', ')
      .map((word) => [word, plain(same)] as const),
  );
  for (const [word, same] of listed) assert.deepEqual(parseCron(word), parseCron(same), word);
  const refused = parseCron('@none');
  const known = 'problem' in refused ? [...refused.problem.matchAll(/@\w+(?=,)/g)].map(([word]) => word) : [];
  assert.deepEqual(listed.map(([word]) => word).toSorted(), known.toSorted());
});

test('every form that is shown is taken, in the field it is for', () => {
  const forms = tableRows(sections(text).get('Fields') ?? '').filter((row) => row.length === 2);
  const spans = forms.flatMap(([cell = '']) => codeSpans(cell));
  assert.ok(spans.length > 9);
  for (const form of spans) {
    const place = /L$|#/.test(form) && form !== 'L' ? `0 0 * * ${form}` : `0 0 ${form} * *`;
    const expression = /[a-z]-/.test(form) ? `0 0 * * ${form}` : place;
    assert.ok('fields' in parseCron(expression), expression);
  }
  for (const expression of ['0 0 30 2 *', '0 0 31 4,6 *', '0 0 15W * *', '0 0 L-3 * *', 'H * * * *']) {
    assert.ok('problem' in parseCron(expression), expression);
  }
});
