/** FNV-1a: the published values, and that they do not change from one start to the next. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fnv1a } from '../../src/actors/kernel/index.ts';

test('texts of ASCII have the hashes that the draft of its authors lists', () => {
  const listed = { '': 0x811c9dc5, a: 0xe40c292c, b: 0xe70c2de5, foobar: 0xbf9cf968 };
  for (const [text, hash] of Object.entries(listed)) assert.equal(fnv1a(text) >>> 0, hash, text);
});

test('with another offset texts have other hashes', () => {
  for (const text of ['', 'a', 'foobar']) assert.notEqual(fnv1a(text, 1), fnv1a(text));
});
