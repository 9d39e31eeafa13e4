/** What the running daemon imports for its schedule leaves the parser of cron expressions and Intl outside. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

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
