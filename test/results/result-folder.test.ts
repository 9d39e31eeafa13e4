/** Files of large results: whole or not there, nobody else's, within their room, and none that is nobody's. */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { ResultFolder } from '../../src/actors/results/result-folder.ts';
import {
  ownFileOf,
  READABLE_RESULT_BYTES,
  referenceIn,
  resultFileName,
} from '../../src/actors/results/result-reference.ts';
import { ResultRoom } from '../../src/actors/results/result-room.ts';
import { type HasAfter, tempDir } from '../support/temp-dir.ts';

const MB = 1024 * 1024;

function folderOf(t: HasAfter, capacityBytes = MB): { folder: ResultFolder; dir: string } {
  const dir = join(tempDir(t), 'results');
  return { folder: new ResultFolder({ dir, capacityBytes, room: new ResultRoom(0).memory }), dir };
}

test('a result is written whole, for nobody else to read, and read again', async (t) => {
  const { folder, dir } = folderOf(t);
  const value = { rows: Array.from({ length: 10_000 }, (_, index) => ({ index, text: 'é' })) };
  const run = 'nightly@2035-12-24T02:00:00Z/report[3]';
  const text = await folder.write(run, 2, value);
  const reference = referenceIn(text)!;
  const size = Buffer.byteLength(JSON.stringify(value));
  assert.equal(reference.$bytes, size);
  assert.deepEqual(ownFileOf(run, text), { name: basename(reference.$file), bytes: size });
  assert.equal(ownFileOf('nightly@2035-12-24T02:00:00Z/report[4]', text), null);
  assert.deepEqual(readdirSync(dir), [basename(reference.$file)]);
  assert.equal(statSync(reference.$file).mode & 0o777, 0o600);
  assert.equal(statSync(dir).mode & 0o777, 0o700);
  assert.deepEqual(folder.read(reference.$file), value);
  assert.equal(folder.room.usedBytes, size);
  folder.remove([basename(reference.$file)]);
  assert.deepEqual([readdirSync(dir), folder.room.usedBytes], [[], 0]);
});

test('names are safe, whatever the run is called', () => {
  for (const run of ['../../etc/passwd', 'a/b', '.', 'x'.repeat(5000), 'ü€\u0000\n', '']) {
    const name = resultFileName(run, 1, 'z');
    assert.match(name, /^[A-Za-z0-9_@-]+\.json$/);
    assert.ok(name.length < 200);
    const text = JSON.stringify({ $file: `/state/results/${name}`, $bytes: 1 });
    assert.equal(ownFileOf(run, text)?.name, name);
    assert.equal(ownFileOf(`${run}1`, text), null);
  }
});

test('without room nothing is left behind, and what is there stays', async (t) => {
  const { folder, dir } = folderOf(t, 300_000);
  const first = referenceIn(await folder.write('a@1', 1, 'x'.repeat(200_000)))!;
  await assert.rejects(folder.write('a@2', 1, 'x'.repeat(200_000)), {
    code: 'file-failed',
    message: /expected room for the result in .*, got a folder with \d+ of 300000 bytes; raise retention/,
  });
  assert.deepEqual(readdirSync(dir), [basename(first.$file)]);
  assert.equal(folder.room.usedBytes, first.$bytes);
});

test('a fault of the disk is the failure of that run alone', async (t) => {
  const dir = join(tempDir(t), 'results');
  writeFileSync(dir, 'in the way');
  const folder = new ResultFolder({ dir, capacityBytes: MB, room: new ResultRoom(0).memory });
  await assert.rejects(folder.write('a@1', 1, 'x'), { code: 'file-failed', message: /EEXIST|ENOTDIR/ });
  assert.equal(folder.room.usedBytes, 0);
});

test('what throws while it is written leaves nothing', async (t) => {
  const { folder, dir } = folderOf(t);
  const value = ['x'.repeat(200_000), { toJSON: () => assert.fail('no') }];
  await assert.rejects(folder.write('a@1', 1, value), { code: 'result-not-json' });
  assert.deepEqual([readdirSync(dir), folder.room.usedBytes], [[], 0]);
});

test('a start deletes what no result refers to, part files too, and counts the rest', (t) => {
  const { folder, dir } = folderOf(t);
  mkdirSync(dir);
  for (const name of ['kept.json', 'lost.json', 'half.json.part', 'README'])
    writeFileSync(join(dir, name), 'xyz');
  folder.takeUp(new Set(['kept.json']));
  assert.deepEqual(readdirSync(dir).sort(), ['README', 'kept.json']);
  assert.equal(folder.room.usedBytes, 3);
});

test('a sweep deletes what no result refers to, if it is old', (t) => {
  const { folder, dir } = folderOf(t);
  mkdirSync(dir);
  for (const name of ['kept.json', 'old.json', 'new.json']) writeFileSync(join(dir, name), 'xyz');
  for (const name of ['kept.json', 'old.json']) utimesSync(join(dir, name), 1, 1);
  folder.sweep(new Set(['kept.json']), 2000);
  assert.deepEqual(readdirSync(dir).sort(), ['kept.json', 'new.json']);
});

test('what was deleted or changed by hand is room again with the next sweep, but not while one is written', async (t) => {
  const { folder, dir } = folderOf(t);
  const names = await Promise.all(
    ['a', 'b', 'c'].map(async (run) => {
      const text = await folder.write(run, 1, 'x'.repeat(300 * 1024));
      return basename(referenceIn(text)!.$file);
    }),
  );
  const [gone, cut] = names as [string, string, string];
  unlinkSync(join(dir, gone));
  writeFileSync(join(dir, cut), '""');
  folder.remove([gone]);
  await assert.rejects(folder.write('d', 1, 'x'.repeat(300 * 1024)), { code: 'file-failed' });

  writeFileSync(join(dir, 'now.json.part'), '');
  const before = folder.room.usedBytes;
  folder.sweep(new Set(names), 0);
  assert.equal(folder.room.usedBytes, before);
  unlinkSync(join(dir, 'now.json.part'));
  folder.sweep(new Set(names), 0);
  assert.equal(folder.room.usedBytes, 2 + 300 * 1024 + 2);
  await folder.write('d', 1, 'x'.repeat(300 * 1024));
});

test('only files of the folder are read, up to a size, and what is wrong is a sentence', (t) => {
  const { folder, dir } = folderOf(t);
  mkdirSync(dir);
  writeFileSync(join(dir, 'large.json'), ' '.repeat(READABLE_RESULT_BYTES + 1));
  writeFileSync(join(dir, 'torn.json'), '{"a":');
  const refused = (file: string, message: RegExp) =>
    assert.throws(() => folder.read(file), { code: 'input-invalid', message });
  refused(
    join(dir, 'large.json'),
    /expected a result of at most 4194304 bytes to look into, got one of 4194305/,
  );
  refused(join(dir, 'torn.json'), /expected the JSON text of a result/);
  refused(join(dir, 'gone.json'), /expected the file of a result, got ENOENT/);
  refused('/etc/passwd', /expected a file of the results folder/);
  refused(join(dir, '..', 'journal.db'), /expected a file of the results folder/);
  assert.ok(existsSync(join(dir, 'large.json')));
  assert.equal(readFileSync(join(dir, 'torn.json'), 'utf8'), '{"a":');
});

test('room is one count, wherever it is taken', () => {
  const room = new ResultRoom(100);
  const other = new ResultRoom(100, room.memory);
  assert.ok(room.tryTake(60));
  assert.ok(!other.tryTake(41));
  assert.ok(other.tryTake(40));
  room.give(60);
  assert.equal(other.usedBytes, 40);
  room.correct(39, 7);
  assert.equal(room.usedBytes, 40, 'it has changed meanwhile');
  room.correct(40, 7);
  assert.equal(other.usedBytes, 7);
});
