import assert from 'node:assert/strict';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { fillText } from '../../bench/corpus.ts';
import { ColibriError, type ErrorCode } from '../../src/actors/kernel/errors.ts';
import { CHUNK_BYTES } from '../../src/workers/files/chunk-buffers.ts';
import { partName } from '../../src/workers/files/part-name.ts';
import { tempDir } from '../support/temp-dir.ts';
import { fakeContext, fileHandlers, filesBelow, hasTool, runTool, scanned } from './file-job.ts';

const DECODERS = { zstd: zstdDecompressSync, gzip: gunzipSync, brotli: brotliDecompressSync };
const SUFFIXES = { zstd: '.zst', gzip: '.gz', brotli: '.br' };
const SIZES = [
  0,
  1,
  65_535,
  65_536,
  65_537,
  CHUNK_BYTES - 1,
  CHUNK_BYTES,
  CHUNK_BYTES + 1,
  3 * 1024 * 1024 + 7,
];

type Algorithm = keyof typeof DECODERS;
const ALGORITHMS = Object.keys(DECODERS) as Algorithm[];

function text(bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  fillText(buffer, bytes + 1);
  return buffer;
}

function withCode(code: ErrorCode): (thrown: unknown) => boolean {
  return (thrown) => thrown instanceof ColibriError && thrown.code === code;
}

test('every algorithm gives back every size, for its tool, for node and for decompress', (t) => {
  const base = tempDir(t);
  const [root, to, back] = ['in', 'out', 'back'].map((name) => join(base, name)) as [string, string, string];
  mkdirSync(root);
  const { compress, decompress } = fileHandlers();
  for (const bytes of SIZES) {
    const path = join(root, `file ${bytes}`);
    const content = text(bytes);
    writeFileSync(path, content);
    for (const algorithm of ALGORITHMS) {
      const result = compress({ ...scanned(root, path), algorithm, to });
      const packed = join(to, `file ${bytes}${SUFFIXES[algorithm]}`);
      assert.equal(result.path, packed);
      assert.equal(result.from_bytes, bytes);
      assert.equal(result.to_bytes, statSync(packed).size);
      assert.ok(content.equals(DECODERS[algorithm](readFileSync(packed))), `${algorithm} ${bytes}`);
      const unpacked = decompress({ ...scanned(to, packed), to: back });
      assert.equal(unpacked.path, join(back, `file ${bytes}`));
      assert.equal(unpacked.to_bytes, bytes);
      assert.ok(content.equals(readFileSync(unpacked.path)), `${algorithm} ${bytes}`);
    }
  }
  const packed = filesBelow(to);
  const tools = { zstd: ['zstd', '-t', '-q'], gzip: ['gzip', '-t'], brotli: ['brotli', '-t'] };
  for (const algorithm of ALGORITHMS) {
    const [tool, ...args] = tools[algorithm];
    if (!hasTool(tool!)) continue;
    const names = packed.filter((name) => name.endsWith(SUFFIXES[algorithm]));
    const tested = runTool(to, tool!, ...args, ...names);
    assert.equal(tested.status, 0, tested.text);
  }
});

test('every level works, and one of another algorithm is refused', (t) => {
  const base = tempDir(t);
  const path = join(base, 'file');
  writeFileSync(path, text(60_000));
  const { compress } = fileHandlers();
  const levels = { zstd: [1, 19], gzip: [1, 9], brotli: [0, 11] };
  for (const algorithm of ALGORITHMS) {
    const [least, most] = levels[algorithm].map(
      (level) => compress({ path, algorithm, level, to: join(base, 'out') }).to_bytes,
    );
    assert.ok(most! < least!, `${algorithm}: ${most} of ${least}`);
  }
  for (const [algorithm, level] of [
    ['gzip', 10],
    ['gzip', 0],
    ['zstd', 0],
    ['brotli', 12],
    ['zstd', 1.5],
  ] as const) {
    assert.throws(
      () => compress({ path, algorithm, level, to: join(base, 'out') }),
      withCode('input-invalid'),
    );
  }
});

test('paths below the root are kept; mode and time are those of the source', (t) => {
  const base = tempDir(t);
  const root = join(base, 'in');
  const to = join(base, 'out');
  mkdirSync(join(root, 'a/b'), { recursive: true });
  for (const name of ['top', 'a/b/-new\nline ü', 'a/b/.hidden']) {
    const path = join(root, name);
    writeFileSync(path, 'x');
    chmodSync(path, 0o640);
    utimesSync(path, 1_000_000, 1_000_000.25);
    fileHandlers().compress({ ...scanned(root, path), to });
  }
  assert.deepEqual(filesBelow(to), ['a/b/-new\nline ü.zst', 'a/b/.hidden.zst', 'top.zst']);
  const stats = statSync(join(to, 'top.zst'));
  assert.equal(stats.mode & 0o777, 0o640);
  assert.equal(stats.mtimeMs, 1_000_000_250);
  // Named by hand, without a root: the base name.
  const path = join(root, 'top');
  assert.equal(fileHandlers().compress({ path, to: join(base, 'flat') }).path, join(base, 'flat/top.zst'));
});

test('a name too long for name and part suffix still works', (t) => {
  const base = tempDir(t);
  const name = 'n'.repeat(250);
  writeFileSync(join(base, name), 'x');
  fileHandlers().compress({ path: join(base, name), to: join(base, 'out') });
  assert.deepEqual(filesBelow(join(base, 'out')), [`${name}.zst`]);
});

test('until the output is whole there is a part file, and what had its name stays', (t) => {
  const base = tempDir(t);
  const to = join(base, 'out');
  const path = join(base, 'file');
  writeFileSync(path, text(1024 * 1024));
  mkdirSync(to);
  writeFileSync(join(to, 'file.zst'), 'earlier output');
  const seen: string[][] = [];
  const context = fakeContext({
    onLook() {
      seen.push(filesBelow(to));
      assert.equal(readFileSync(join(to, 'file.zst'), 'utf8'), 'earlier output');
      return false;
    },
  });
  fileHandlers().compress({ path, to }, context);
  assert.ok(seen.length > 10);
  for (const names of seen) assert.deepEqual(names, ['file.zst', partName('file.zst', 'run-1')]);
  assert.deepEqual(filesBelow(to), ['file.zst']);
  assert.ok(zstdDecompressSync(readFileSync(join(to, 'file.zst'))).equals(readFileSync(path)));
});

test('an aborted run leaves no part file, and source and earlier output as they were', (t) => {
  const base = tempDir(t);
  const to = join(base, 'out');
  const path = join(base, 'file');
  writeFileSync(path, text(512 * 1024));
  mkdirSync(to);
  for (const algorithm of ALGORITHMS) {
    const output = join(to, `file${SUFFIXES[algorithm]}`);
    writeFileSync(output, 'earlier');
    const context = fakeContext({ onLook: (look) => look === 5 });
    assert.throws(
      () => fileHandlers().compress({ path, to, algorithm, remove_source: true }, context),
      /told to stop/,
    );
    assert.equal(readFileSync(output, 'utf8'), 'earlier');
  }
  assert.deepEqual(filesBelow(to), ['file.br', 'file.gz', 'file.zst']);
  assert.equal(statSync(path).size, 512 * 1024);
});

test('what a killed attempt of the run left is replaced', (t) => {
  const base = tempDir(t);
  const to = join(base, 'out');
  const path = join(base, 'file');
  writeFileSync(path, 'x');
  mkdirSync(to);
  writeFileSync(join(to, partName('file.zst', 'run-1')), 'left over');
  writeFileSync(join(to, partName('file.zst', 'other-run')), 'of another');
  fileHandlers().compress({ path, to });
  assert.deepEqual(filesBelow(to), ['file.zst', partName('file.zst', 'other-run')].sort());
});

test('the part file is not written through a link', (t) => {
  const base = tempDir(t);
  const to = join(base, 'out');
  const path = join(base, 'file');
  writeFileSync(path, 'x');
  writeFileSync(join(base, 'victim'), 'untouched');
  mkdirSync(to);
  symlinkSync('../victim', join(to, partName('file.zst', 'run-1')));
  symlinkSync('../victim', join(to, 'file.zst'));
  fileHandlers().compress({ path, to });
  assert.equal(readFileSync(join(base, 'victim'), 'utf8'), 'untouched');
  assert.deepEqual(filesBelow(to), ['file.zst']);
});

test('the source goes only when it is asked for, and only as it was read', (t) => {
  const base = tempDir(t);
  const to = join(base, 'out');
  const path = join(base, 'file');
  const { compress } = fileHandlers();
  writeFileSync(path, 'x');
  compress({ path, to });
  assert.ok(existsSync(path));
  compress({ path, to, remove_source: true });
  assert.ok(!existsSync(path));
  assert.equal(zstdDecompressSync(readFileSync(join(to, 'file.zst'))).toString(), 'x');
});

test('a source that changes while it is read gives no output', (t) => {
  const base = tempDir(t);
  const to = join(base, 'out');
  const path = join(base, 'file');
  const changes: Record<string, () => void> = {
    grows: () => appendFileSync(path, 'more'),
    shrinks: () => writeFileSync(path, 'less'),
    'is replaced': () => {
      rmSync(path);
      writeFileSync(path, text(512 * 1024));
    },
  };
  for (const algorithm of ALGORITHMS) {
    for (const [how, change] of Object.entries(changes)) {
      writeFileSync(path, text(512 * 1024));
      const context = fakeContext({
        onLook(look) {
          if (look === 3) change();
          return false;
        },
      });
      assert.throws(
        () => fileHandlers().compress({ path, to, algorithm, remove_source: true }, context),
        withCode('file-changed'),
        `${algorithm} ${how}`,
      );
      assert.ok(existsSync(path));
    }
  }
  assert.deepEqual(filesBelow(to), []);
});

test('nothing is written outside of `to`', (t) => {
  const base = tempDir(t);
  const to = join(base, 'out');
  const path = join(base, 'file');
  writeFileSync(path, 'x');
  mkdirSync(join(base, 'outside'));
  mkdirSync(to);
  symlinkSync('../outside', join(to, 'link'));
  symlinkSync('../not-there', join(to, 'dangling'));
  const { compress } = fileHandlers();
  for (const relative of ['../file', 'a/../../file', '/file', 'a//b', '..', '']) {
    assert.throws(() => compress({ path, relative, root: base, to }), withCode('input-invalid'), relative);
  }
  for (const relative of ['link/file', 'link/new/file', 'dangling/file', 'dangling/new/file']) {
    assert.throws(() => compress({ path, relative, root: base, to }), withCode('file-failed'), relative);
  }
  assert.deepEqual(filesBelow(join(base, 'outside')), []);
  assert.ok(!existsSync(join(base, 'not-there')));
});

test('`to` may itself be reached through a link, and lead on through links within', (t) => {
  const base = tempDir(t);
  const path = join(base, 'file');
  writeFileSync(path, 'x');
  mkdirSync(join(base, 'real/deep'), { recursive: true });
  symlinkSync('real', join(base, 'to'));
  symlinkSync('deep', join(base, 'real/inner'));
  fileHandlers().compress({ path, relative: 'inner/file', root: base, to: join(base, 'to') });
  assert.deepEqual(filesBelow(join(base, 'real/deep')), ['file.zst']);
});

test('outputs that lie among the sources are not compressed again', (t) => {
  const root = tempDir(t);
  writeFileSync(join(root, 'a'), 'x');
  const { compress } = fileHandlers();
  const { path } = compress({ ...scanned(root, join(root, 'a')), to: root });
  const again = compress({ ...scanned(root, path), to: root });
  assert.deepEqual(Object.keys(again), ['skipped']);
  assert.deepEqual(filesBelow(root), ['a', 'a.zst']);
});

test('a destination that cannot be taken fails with its path', (t) => {
  const base = tempDir(t);
  const path = join(base, 'file');
  writeFileSync(path, 'x');
  mkdirSync(join(base, 'out/file.zst/full'), { recursive: true });
  writeFileSync(join(base, 'plain'), '');
  const { compress } = fileHandlers();
  assert.throws(() => compress({ path, to: join(base, 'out') }), withCode('file-failed'));
  assert.throws(() => compress({ path, to: join(base, 'plain') }), withCode('file-failed'));
  assert.throws(() => compress({ path }), withCode('input-invalid'));
  assert.deepEqual(filesBelow(base), ['file', 'plain']);
});

test('a name that leaves no room for the suffix is refused for good, before any work', (t) => {
  const base = tempDir(t);
  const to = join(base, 'out');
  const { compress } = fileHandlers();
  const longest = join(base, 'x'.repeat(255));
  writeFileSync(longest, 'x');
  const context = fakeContext({ onLook: () => assert.fail('worked on') });
  assert.throws(
    () => compress({ path: longest, to, remove_source: true }, context),
    (thrown) => withCode('file-invalid')(thrown) && /of 259 bytes.*shorter/.test((thrown as Error).message),
  );
  assert.deepEqual(filesBelow(to), []);
  assert.ok(existsSync(longest));
  const fits = join(base, 'y'.repeat(251));
  writeFileSync(fits, 'x');
  compress({ path: fits, to });
  assert.deepEqual(filesBelow(to), [`${'y'.repeat(251)}.zst`]);
});
