/** What the running daemon imports for its schedule leaves the parser of cron expressions and Intl outside. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { GarbageCollector, usedHeapBytes } from '../../src/actors/kernel/index.ts';
import { DEFAULT_DST } from '../../src/main/config/config.ts';
import { type CronOccurrences, occurrencesOf, TimeZones } from '../../src/main/schedule/index.ts';
import { cronFields } from '../support/cron-fields.ts';

const MAIN = fileURLToPath(new URL('../../src/main/', import.meta.url));

/** Every file and package that is loaded with `file`: by `import type` none is. */
function loadedWith(file: string, seen = new Map<string, string>()): Map<string, string> {
  const text = readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
  seen.set(file, text);
  for (const [, from] of text.matchAll(/^(?:import|export)\b(?! type\b)[^'"]*?from\s*'([^']+)'/gm)) {
    if (!from!.startsWith('.')) seen.set(from!, '');
    else if (!seen.has(join(dirname(file), from!))) loadedWith(join(dirname(file), from!), seen);
  }
  return seen;
}

test('the daemon loads the scheduler without cron-parser, and its schedule without Intl', () => {
  const daemon = loadedWith(join(MAIN, 'run-daemon.ts'));
  assert.ok(daemon.has(join(MAIN, 'schedule/cron-occurrences.ts')), 'the evaluator is part of it');
  assert.deepEqual(
    [...daemon.keys()].filter((name) => /cron-parser|schedule\/parse/.test(name)),
    [],
  );
  for (const [name, text] of loadedWith(join(MAIN, 'schedule/index.ts'))) {
    assert.doesNotMatch(text, /\bIntl\b|toLocale/, name);
  }
  const parser = loadedWith(join(MAIN, 'schedule/parse/index.ts'));
  assert.ok(parser.has('cron-parser'), 'and this way of looking finds it where it is');
});

test('200 cron tasks hold at most 300 bytes each beside their text', () => {
  const collector = new GarbageCollector();
  const zones = new TimeZones();
  const expressions = Array.from(
    { length: 200 },
    (_, index) => `${index % 60} ${index % 24} * * ${index % 7}`,
  );
  const fields = expressions.map((expression) => JSON.stringify(cronFields(expression)));
  const make = (index: number) =>
    occurrencesOf(
      {
        kind: 'cron',
        expression: 'x',
        timeZone: 'Europe/Berlin',
        dst: DEFAULT_DST,
        fields: JSON.parse(fields[index % 200]!),
      },
      zones,
    );
  const nowMs = Date.UTC(2026, 5, 1);
  // A first round: what is loaded and compiled once is not a task's.
  for (let index = 0; index < 200; index++) make(index).next(nowMs);
  const rounds = 20;
  const kept: CronOccurrences[] = [];
  collector.collect();
  const before = usedHeapBytes();
  for (let index = 0; index < 200 * rounds; index++) {
    const cron = make(index) as CronOccurrences;
    cron.next(nowMs);
    kept.push(cron);
  }
  collector.collect();
  const bytes = (usedHeapBytes() - before) / kept.length;
  assert.ok(bytes <= 300, `${bytes} bytes`);
  assert.ok(bytes > 50, `${bytes} bytes: expected them to be still there`);
});
