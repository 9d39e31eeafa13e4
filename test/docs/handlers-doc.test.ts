/** docs/handlers.md against the handlers: every one, every key of its `with:`, and no other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtInHandlers } from '../../src/workers/index.ts';
import { plain, readDocument, rowsBelow, sections, tableRows } from './markdown.ts';
import { keysOf } from './schema-keys.ts';

const text = readDocument('docs/handlers.md');

test('the list names every built-in handler with its kinds, and no other', () => {
  const rows = rowsBelow(text, 'Handlers');
  const listed = rows.map(([name = '', kinds = '']) => [/\[(.*?)\]/.exec(plain(name))?.[1], plain(kinds)]);
  const known = builtInHandlers.map(({ name, kind, kinds }) => [name, (kinds ?? [kind]).join(', ')]);
  assert.deepEqual(listed.toSorted(), known.toSorted());
  for (const { name, perFile } of builtInHandlers) {
    const row = rows.find(([cell = '']) => cell.includes(`\`${name}\``));
    assert.equal(row?.[3], perFile ? 'yes' : 'no', name);
  }
});

for (const { name, inputSchema } of builtInHandlers) {
  test(`${name}: keys, types and defaults are those of its schema`, () => {
    const rows = tableRows(sections(text).get(name) ?? '').slice(1);
    const keys = keysOf(inputSchema);
    assert.deepEqual(
      rows.map(([key = '']) => plain(key)),
      keys.map(({ key }) => key),
    );
    for (const [index, { key, type, default: value }] of keys.entries()) {
      const [, typeCell = '', defaultCell = '', meaning = ''] = rows[index]!;
      assert.equal(plain(typeCell), type, key);
      const required = inputSchema.required?.includes(key) === true;
      assert.equal(plain(defaultCell), value ?? (required ? 'required' : '-'), key);
      assert.ok(meaning.length > 8, key);
    }
  });
}
