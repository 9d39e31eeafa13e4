import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { partName } from '../../src/workers/files/part-name.ts';
import { PartSweeper } from '../../src/workers/files/part-sweeper.ts';
import { tempDir } from '../support/temp-dir.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

test('part files that nobody writes go: of the same output after a minute, others after a day', (t) => {
  const root = tempDir(t);
  const path = join(root, 'a.zst');
  const ours = partName('a.zst', 'this run');
  const same = partName('a.zst', 'killed run');
  const other = partName('b.zst', 'killed run');
  const kept = ['a.zst', 'b.zst.part-short', 'c.part-0123456789abcdef.zst'];
  for (const name of [ours, same, other, ...kept]) writeFileSync(join(root, name), '');
  mkdirSync(join(root, 'd.part-0123456789abcdef'));
  // As a part file right before its rename: the time of its source says nothing of its age.
  utimesSync(join(root, same), 0, 0);
  const always = [...kept, 'd.part-0123456789abcdef', ours];
  const left = (): string[] => readdirSync(root).sort();
  let nowMs = Date.now();
  const sweeper = new PartSweeper(() => nowMs);
  sweeper.sweep(path, 'this run');
  assert.deepEqual(left(), [...always, same, other].sort());
  nowMs += 2 * MINUTE_MS;
  sweeper.sweep(path, 'this run');
  assert.deepEqual(left(), [...always, same, other].sort(), 'once an hour for a folder');
  nowMs += HOUR_MS;
  sweeper.sweep(path, 'this run');
  assert.deepEqual(left(), [...always, other].sort());
  nowMs += 24 * HOUR_MS;
  sweeper.sweep(path, 'this run');
  assert.deepEqual(left(), always.sort());
  sweeper.sweep(join(root, 'missing/a.zst'), 'this run');
});
