/** What the documents point at is there: files, anchors, commands, npm scripts, actors, variables. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { COMMANDS } from '../../src/main/cli/commands/index.ts';
import { PLACEMENT } from '../../src/main/placement.ts';
import { tempDir } from '../support/temp-dir.ts';
import {
  anchors,
  codeSpans,
  DOCUMENTS,
  fencedBlocks,
  plain,
  prose,
  ROOT,
  readDocument,
  rowsBelow,
  tableRows,
} from './markdown.ts';

/** Folders that the demo makes. */
const MADE = /^configs\/(?:inbox|out|outbox|state)\b/;

for (const path of DOCUMENTS) {
  test(`${path}: relative links lead to files and headings that are there`, () => {
    for (const [, target = ''] of prose(readDocument(path)).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^\w+:/.test(target)) continue;
      const [file = '', anchor] = target.split('#');
      const absolute = file === '' ? join(ROOT, path) : join(ROOT, dirname(path), file);
      assert.ok(existsSync(absolute), target);
      assert.ok(!relative(ROOT, absolute).startsWith('..'), target);
      if (anchor === undefined) continue;
      assert.ok(anchors(readFileSync(absolute, 'utf8')).has(anchor), target);
    }
  });

  test(`${path}: paths of the project in backticks are there`, () => {
    for (const span of codeSpans(readDocument(path))) {
      if (!/^(?:src|test|bench|configs|docs|scripts)\/[\w./-]+$/.test(span) || MADE.test(span)) continue;
      assert.ok(existsSync(join(ROOT, span)), span);
    }
  });

  test(`${path}: commands and npm scripts exist`, () => {
    const text = readDocument(path);
    const commands = [
      ...text.matchAll(/npx --no-install colibri (\S+)/g),
      ...codeSpans(text).flatMap((span) => [...span.matchAll(/^colibri ([a-z]\S*)/g)]),
    ].map((match) => match[1]!);
    const known = new Set([...COMMANDS.map(({ name }) => name), 'help']);
    for (const command of commands) assert.ok(known.has(command), command);
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    for (const [, script = ''] of text.matchAll(/\bnpm run ([\w:-]+)/g)) assert.ok(script in scripts, script);
  });
}

test('README.md shows a handler that loads as it stands', async (t) => {
  const blocks = fencedBlocks(readDocument('README.md')).filter(
    ({ language, text }) => language === 'ts' && text.includes('export default'),
  );
  assert.ok(blocks.length > 0);
  for (const [index, { text }] of blocks.entries()) {
    const file = join(tempDir(t), `handler-${index}.ts`);
    writeFileSync(file, text);
    const module = (await import(pathToFileURL(file).href)) as { readonly default?: unknown };
    assert.equal(typeof module.default, 'function');
  }
});

test('README.md says how to test in a section of its own', () => {
  assert.match(readDocument('README.md'), /^## Test\n\nTest: `npm test`$/m);
});

test('README.md lists every command but those that explain themselves', () => {
  const listed = rowsBelow(readDocument('README.md'), 'Commands').map(
    ([cell = '']) => plain(cell).split(' ')[1],
  );
  const known = COMMANDS.map(({ name }) => name).filter((name) => name !== 'version');
  assert.deepEqual(listed.toSorted(), known.toSorted());
});

test('docs/architecture.md shows the placement as it is', () => {
  const listed = rowsBelow(readDocument('docs/architecture.md'), 'Placement').map(
    ([actor = '', thread = '']) => [plain(actor), plain(thread)],
  );
  assert.deepEqual(Object.fromEntries(listed), PLACEMENT);
});

test('docs/glossary.md is in order, and gives each word one line', () => {
  const words = tableRows(readDocument('docs/glossary.md'))
    .slice(1)
    .map(([word = '']) => word);
  assert.ok(words.length > 50);
  assert.deepEqual(words, [...new Set(words)].sort());
});
