/** docs/config.md against the schema: every key with its type and default, and no other. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../../src/main/config/index.ts';
import { configSchema } from '../../src/main/config/schema.ts';
import { parseCron } from '../../src/main/schedule/parse/index.ts';
import { builtInHandlers } from '../../src/workers/index.ts';
import { plain, ROOT, readDocument, rowsBelow } from './markdown.ts';
import { keysOf } from './schema-keys.ts';

const text = readDocument('docs/config.md');
const known = keysOf(configSchema);

/** Heading of a table → what its keys begin with in the schema. */
const TABLES: readonly (readonly [string, readonly string[]])[] = [
  ['Sections', ['']],
  ['Tasks', ['tasks[].']],
  ['Tasks and defaults', ['tasks[].', 'defaults.']],
  ['Flows', ['flows[].']],
];

const documented = TABLES.flatMap(([heading, prefixes]) =>
  rowsBelow(text, heading).flatMap((row) =>
    prefixes.map((prefix) => ({ row, key: prefix + plain(row[0]!) })),
  ),
);

test('every key of the schema is in docs/config.md, and no other', () => {
  const keys = documented.map(({ key }) => key);
  assert.deepEqual(keys.toSorted(), known.map(({ key }) => key).toSorted());
});

test('types and defaults are those of the schema, and each key has a meaning', () => {
  for (const { row, key } of documented) {
    const expected = known.find((one) => one.key === key);
    const [, type = '', value = '', meaning = ''] = row;
    assert.equal(plain(type), expected?.type, key);
    if (expected?.default !== null) assert.equal(plain(value), expected?.default, key);
    assert.ok(meaning.length > 8, `${key}: expected a meaning, got ${JSON.stringify(meaning)}`);
  }
});

for (const file of ['configs/example.yaml', 'configs/colibri.yaml']) {
  test(`${file} loads without a warning`, async () => {
    const { config, warnings } = await loadConfig({
      file: join(ROOT, file),
      env: {},
      cores: 4,
      builtIns: builtInHandlers,
      parseCron,
      isFolder: () => true,
    });
    assert.deepEqual(warnings, []);
    assert.ok(config.tasks.length > 0);
  });
}

test('configs/example.yaml shows every built-in handler', async () => {
  const { config } = await loadConfig({
    file: join(ROOT, 'configs/example.yaml'),
    env: {},
    cores: 4,
    builtIns: builtInHandlers,
    parseCron,
  });
  const shown = new Set(config.tasks.map((task) => task.handler));
  for (const { name } of builtInHandlers) assert.ok(shown.has(name), name);
});
