import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LineTable } from '../../src/workers/files/line-table.ts';

const hashOf = (number: number): number => Math.imul(number, 0x9e3779b1) >>> 0;

test('every line is found, also those that share a hash, as the table grows', () => {
  const table = new LineTable();
  for (let index = 0; index < 10_000; index += 1) table.add(hashOf(index >>> 1), index * 70);
  assert.ok(table.complete);
  for (const index of [0, 2, 9_998]) {
    assert.deepEqual(new Set(table.offsetsOf(hashOf(index >>> 1))), new Set([index * 70, index * 70 + 70]));
  }
  assert.deepEqual([...table.offsetsOf(1)], []);
  table.clear();
  assert.deepEqual([...table.offsetsOf(0)], []);
});

test('a line that does not fit is left out and said so', () => {
  const same = new LineTable();
  for (let index = 0; index < 65; index += 1) same.add(7, index);
  assert.ok(!same.complete);
  assert.equal([...same.offsetsOf(7)].length, 64);
  const far = new LineTable();
  far.add(1, 2 ** 32 - 1);
  assert.ok(!far.complete);
  const full = new LineTable();
  for (let index = 0; index < 196_608; index += 1) full.add(hashOf(index), index);
  assert.ok(full.complete);
  full.add(5, 5);
  assert.ok(!full.complete);
});
