import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ColibriError, type ErrorCode } from '../../src/actors/kernel/errors.ts';
import { CHUNK_BYTES, ChunkBuffers } from '../../src/workers/files/chunk-buffers.ts';
import type { Handler } from '../../src/workers/handler.ts';
import { createHashHandler } from '../../src/workers/handlers/hash.ts';
import { tempDir } from '../support/temp-dir.ts';
import { fakeContext, fileHandlers, runTool, scanned } from './file-job.ts';

const TOOLS = {
  sha256: 'sha256sum',
  sha512: 'sha512sum',
  sha1: 'sha1sum',
  md5: 'md5sum',
  blake2b512: 'b2sum',
};

const NAMES = [
  'plain.txt',
  'with space',
  'new\nline',
  'back\\slash',
  'car\rriage',
  'ümläut 日本 😀',
  '-dash',
  '-',
  '\\n',
  ' lead',
  'trail ',
  '*star',
  '#hash',
];

const SIZES = [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 5 * 1024 * 1024 + 3];

function pattern(bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  for (let index = 0; index < bytes; index += 1) buffer[index] = (index * 31 + (index >>> 8)) & 0xff;
  return buffer;
}

function withCode(code: ErrorCode): (thrown: unknown) => boolean {
  return (thrown) => thrown instanceof ColibriError && thrown.code === code;
}

test('every algorithm makes a manifest that its tool accepts, whatever the names', (t) => {
  const root = tempDir(t);
  for (const name of NAMES) writeFileSync(join(root, name), `content of ${name}`);
  const { hash } = fileHandlers();
  for (const [algorithm, tool] of Object.entries(TOOLS)) {
    const manifest = join(root, `${algorithm}.sums`);
    for (const name of NAMES) hash({ ...scanned(root, join(root, name)), algorithm, manifest });
    const checked = runTool(root, tool, '--check', '--strict', manifest);
    assert.equal(checked.status, 0, checked.text);
    // Line by line what the tool prints itself, up to the name that would be the standard input.
    const printed = runTool(root, tool, '--', ...NAMES.map((name) => (name === '-' ? './-' : name)));
    assert.equal(readFileSync(manifest, 'utf8'), printed.text);
  }
});

test('files of all sizes around the buffer are hashed right', (t) => {
  const root = tempDir(t);
  const { hash } = fileHandlers();
  for (const bytes of SIZES) {
    const path = join(root, `file-${bytes}`);
    writeFileSync(path, pattern(bytes));
    const result = hash({ path });
    assert.deepEqual(result, {
      algorithm: 'sha256',
      hex: execFileSync('sha256sum', [path]).toString().slice(0, 64),
      bytes,
      manifest: null,
    });
  }
});

test('names lead from the folder of the manifest to the file, also through links', (t) => {
  const base = tempDir(t);
  for (const folder of ['in/sub', 'out', 'real/deep']) mkdirSync(join(base, folder), { recursive: true });
  symlinkSync('real/deep', join(base, 'link'));
  const path = join(base, 'in/sub/file');
  writeFileSync(path, 'x');
  const { hash } = fileHandlers();
  for (const [folder, name] of [
    ['in', 'sub/file'],
    ['out', '../in/sub/file'],
    ['new/folder', '../../in/sub/file'],
    ['link', '../../in/sub/file'],
  ] as const) {
    const manifest = join(base, folder, 'SUMS');
    hash({ path, manifest });
    assert.equal(readFileSync(manifest, 'utf8').slice(66), `${name}\n`);
    assert.equal(runTool(join(base, folder), 'sha256sum', '-c', 'SUMS').status, 0);
  }
});

test('a file hashed again has one line, and after a change the new one', (t) => {
  const root = tempDir(t);
  const manifest = join(root, '.sums');
  const { hash } = fileHandlers();
  const paths = ['a', 'b', 'c\n'].map((name) => join(root, name));
  for (const path of paths) writeFileSync(path, 'old');
  for (const path of paths) assert.equal(hash({ path, manifest }).manifest, 'added');
  const first = readFileSync(manifest, 'utf8');
  for (const path of paths) assert.equal(hash({ path, manifest }).manifest, 'kept');
  assert.equal(readFileSync(manifest, 'utf8'), first);
  for (const path of paths) {
    writeFileSync(path, 'new');
    assert.equal(hash({ path, manifest }).manifest, 'replaced');
  }
  assert.equal(runTool(root, 'sha256sum', '-c', '--strict', '.sums').status, 0);
  assert.equal(readFileSync(manifest, 'utf8').split('\n').length, paths.length + 1);
  // A thread that knows nothing yet finds the same.
  assert.equal(fileHandlers().hash({ path: paths[0]!, manifest }).manifest, 'kept');
  rmSync(manifest);
  assert.equal(hash({ path: paths[0]!, manifest }).manifest, 'added');
});

test('a last line that was cut short becomes a comment before the next', (t) => {
  const root = tempDir(t);
  const manifest = join(root, '.sums');
  const { hash } = fileHandlers();
  for (const name of ['a', 'b']) writeFileSync(join(root, name), name);
  hash({ path: join(root, 'a'), manifest });
  appendFileSync(manifest, 'abcdef0123');
  hash({ path: join(root, 'b'), manifest });
  const lines = readFileSync(manifest, 'utf8').split('\n');
  assert.equal(lines.length, 4);
  assert.equal(lines[1], '#bcdef0123');
  const checked = runTool(root, 'sha256sum', '-c', '.sums');
  assert.equal(checked.status, 0, checked.text);
  assert.match(checked.text, /a: OK\nb: OK/);
});

test('the manifest itself is not hashed into itself', (t) => {
  const root = tempDir(t);
  const path = join(root, 'SUMS');
  writeFileSync(path, '');
  assert.equal(fileHandlers().hash({ path, manifest: path }).manifest, null);
  symlinkSync('SUMS', join(root, 'link'));
  assert.equal(fileHandlers().hash({ path, manifest: join(root, 'link') }).manifest, null);
  assert.equal(readFileSync(path, 'utf8'), '');
});

test('a file that changes while it is read gives no digest and no line', (t) => {
  const root = tempDir(t);
  const manifest = join(root, '.sums');
  const path = join(root, 'file');
  const { hash } = fileHandlers();
  const changes: Record<string, () => void> = {
    grows: () => appendFileSync(path, 'more'),
    shrinks: () => writeFileSync(path, 'less'),
    'is rewritten at the same size': () => writeFileSync(path, Buffer.alloc(3 * CHUNK_BYTES, 'y')),
    'is replaced': () => {
      rmSync(path);
      writeFileSync(path, Buffer.alloc(3 * CHUNK_BYTES, 'x'));
    },
    'is removed': () => rmSync(path),
  };
  for (const [how, change] of Object.entries(changes)) {
    writeFileSync(path, Buffer.alloc(3 * CHUNK_BYTES, 'x'));
    const context = fakeContext({
      onLook(look) {
        if (look === 2) change();
        return false;
      },
    });
    assert.throws(() => hash({ path, manifest }, context), withCode('file-changed'), how);
  }
  assert.throws(() => readFileSync(manifest), /ENOENT/);
});

test('an aborted run stops between two chunks', (t) => {
  const root = tempDir(t);
  const path = join(root, 'file');
  writeFileSync(path, pattern(10 * CHUNK_BYTES));
  let looks = 0;
  const context = fakeContext({
    onLook(look) {
      looks = look;
      return look === 3;
    },
  });
  assert.throws(() => fileHandlers().hash({ path }, context), /told to stop/);
  assert.equal(looks, 3);
});

test('progress is said of a file that takes long, and rises; a quick one is done before anyone looks', (t) => {
  const root = tempDir(t);
  const path = join(root, 'file');
  writeFileSync(path, '');
  truncateSync(path, 33 * 1024 * 1024);
  const saidWhere = (lookMs: number): number[] => {
    let nowMono = 0;
    const monoMs = () => {
      nowMono += lookMs;
      return nowMono;
    };
    const fractions: number[] = [];
    const { handle } = createHashHandler(new ChunkBuffers(), monoMs);
    (handle as Handler)({ path }, fakeContext({ onProgress: (fraction) => fractions.push(fraction) }));
    return fractions;
  };
  assert.deepEqual(saidWhere(10), []);
  const fractions = saidWhere(130);
  assert.equal(fractions.length, 3);
  assert.deepEqual(fractions, [...fractions].sort());
  assert.ok(fractions.every((fraction) => fraction > 0 && fraction <= 1));
});

test('what is no regular file, or not there, fails with its path; a pipe does not block', (t) => {
  const root = tempDir(t);
  execFileSync('mkfifo', [join(root, 'pipe')]);
  mkdirSync(join(root, 'folder'));
  writeFileSync(join(root, 'file'), 'x');
  symlinkSync('file', join(root, 'link'));
  const { hash } = fileHandlers();
  for (const name of ['pipe', 'folder', 'missing']) {
    const path = join(root, name);
    assert.throws(
      () => hash({ path }),
      (thrown) => withCode('file-failed')(thrown) && (thrown as Error).message.includes(path),
    );
  }
  // A link named by hand is followed; one that took the place of a scanned file is not.
  assert.equal(hash({ path: join(root, 'link') }).bytes, 1);
  assert.throws(() => hash(scanned(root, join(root, 'link'))), withCode('file-failed'));
});

test('an input that does not fit is refused for good', () => {
  const { hash } = fileHandlers();
  for (const input of [
    {},
    { path: 'relative' },
    { path: 7 },
    { path: '/x', relative: '../x' },
    { path: '/x', algorithm: 'crc' },
  ]) {
    assert.throws(() => hash(input), withCode('input-invalid'), JSON.stringify(input));
  }
});
