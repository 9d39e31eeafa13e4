import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { ChunkBuffers } from '../../src/workers/files/chunk-buffers.ts';
import { LockFile } from '../../src/workers/files/lock-file.ts';
import { Manifest } from '../../src/workers/files/manifest.ts';
import { tempDir } from '../support/temp-dir.ts';
import { runTool } from './file-job.ts';
import type { ManifestThreadData } from './manifest-thread.ts';

const HEX = (digit: string): string => digit.repeat(64);

/** Threads that start at the same moment, each with files of its own. */
async function together(manifest: string, shares: readonly (readonly string[])[]): Promise<string[][]> {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const threads = shares.map((paths) => {
    const workerData: ManifestThreadData = { gate, manifest, paths };
    const worker = new Worker(new URL('./manifest-thread.ts', import.meta.url), { workerData });
    const failed = new Promise<never>((_, reject) => worker.once('error', reject));
    const next = (): Promise<unknown> =>
      Promise.race([new Promise((resolve) => worker.once('message', resolve)), failed]);
    return { next };
  });
  await Promise.all(threads.map(({ next }) => next()));
  const ended = threads.map(({ next }) => next());
  Atomics.store(gate, 0, 1);
  Atomics.notify(gate, 0);
  return (await Promise.all(ended)) as string[][];
}

test('threads that write to one manifest at once tear no line and lose none', async (t) => {
  const root = tempDir(t);
  const manifest = join(root, '.sums');
  const shares = ['a', 'b', 'c'].map((who) =>
    Array.from({ length: 100 }, (_, index) => join(root, `${who.repeat(1 + (index % 50))}-${index}`)),
  );
  for (const path of shares.flat()) writeFileSync(path, path);
  await together(manifest, shares);
  const checked = runTool(root, 'sha256sum', '--check', '--strict', '--quiet', '.sums');
  assert.equal(checked.status, 0, checked.text);
  assert.equal(readFileSync(manifest, 'utf8').split('\n').length, 301);
});

test('lines are replaced while others are added, and none is lost', async (t) => {
  const root = tempDir(t);
  const manifest = join(root, '.sums');
  const old = Array.from({ length: 20 }, (_, index) => join(root, `old-${index}`));
  for (const path of old) writeFileSync(path, 'before');
  await together(manifest, [old]);
  for (const path of old) writeFileSync(path, 'after');
  const fresh = Array.from({ length: 200 }, (_, index) => join(root, `new-${index}`));
  for (const path of fresh) writeFileSync(path, path);
  const shares = [old.slice(0, 10), old.slice(10), fresh.slice(0, 100), fresh.slice(100)];
  const [first, second] = await together(manifest, shares);
  assert.deepEqual(new Set([...first!, ...second!]), new Set(['replaced']));
  const checked = runTool(root, 'sha256sum', '--check', '--strict', '--quiet', '.sums');
  assert.equal(checked.status, 0, checked.text);
  const listed = new Set(
    readFileSync(manifest, 'utf8')
      .split('\n')
      .map((line) => line.slice(66)),
  );
  for (const path of [...old, ...fresh])
    assert.ok(listed.has(path.slice(root.length + 1)), `${path} is missing`);
  assert.deepEqual(
    readdirSync(root).filter((name) => name.includes('.part-') || name.endsWith('.lock')),
    [],
  );
});

test('the index follows a manifest far beyond its first size', (t) => {
  const root = tempDir(t);
  const manifestPath = join(root, 'SUMS');
  const lines = Array.from({ length: 20_000 }, (_, index) => `${HEX('a')}  file-${index}\n`);
  writeFileSync(manifestPath, lines.join(''));
  const manifest = new Manifest(new ChunkBuffers());
  const write = (name: string, hex: string): string =>
    manifest.write({ manifestPath, path: join(root, name), hex, run: 'r' });
  for (const index of [0, 1, 9_999, 19_999]) assert.equal(write(`file-${index}`, HEX('a')), 'kept');
  assert.equal(write('file-20000', HEX('a')), 'added');
  assert.equal(write('file-10000', HEX('b')), 'replaced');
  const now = readFileSync(manifestPath, 'utf8').split('\n');
  assert.equal(now.length, 20_002);
  assert.equal(now.filter((line) => line.endsWith('  file-10000')).join(), `${HEX('b')}  file-10000`);
});

test('all outdated lines of a file go, lines of other files and comments stay', (t) => {
  const root = tempDir(t);
  const manifestPath = join(root, 'SUMS');
  const kept = [
    '# made by hand',
    `${HEX('1')}  ab`,
    `${HEX('2')}  xa`,
    'x'.repeat(300_000),
    `${'3'.repeat(32)}  a`,
  ];
  writeFileSync(manifestPath, [`${HEX('8')}  a`, ...kept, `${HEX('9')}  a`, 'no newline'].join('\n'));
  const manifest = new Manifest(new ChunkBuffers());
  assert.equal(manifest.write({ manifestPath, path: join(root, 'a'), hex: HEX('0'), run: 'r' }), 'replaced');
  assert.deepEqual(readFileSync(manifestPath, 'utf8').split('\n'), [
    ...kept,
    'no newline',
    `${HEX('0')}  a`,
    '',
  ]);
});

test('a manifest that is replaced by a stranger keeps its mode and is read anew', (t) => {
  const root = tempDir(t);
  const manifestPath = join(root, 'SUMS');
  const manifest = new Manifest(new ChunkBuffers());
  const write = (hex: string): string =>
    manifest.write({ manifestPath, path: join(root, 'a'), hex, run: 'r' });
  assert.equal(write(HEX('1')), 'added');
  writeFileSync(manifestPath, '', { mode: 0o600 });
  assert.equal(write(HEX('1')), 'added');
  writeFileSync(`${manifestPath}.new`, `${HEX('2')}  a\n`, { mode: 0o640 });
  runTool(root, 'mv', 'SUMS.new', 'SUMS');
  assert.equal(write(HEX('2')), 'kept');
  assert.equal(write(HEX('3')), 'replaced');
  assert.equal(statSync(manifestPath).mode & 0o777, 0o640);
});

test('a lock whose process is gone, that is old, or that was never written is taken over', (t) => {
  const root = tempDir(t);
  const guarded = join(root, 'SUMS');
  const lockPath = join(root, '.SUMS.lock');
  const gone = runTool(root, 'sh', '-c', 'echo $$').text.trim();
  const age = (seconds: number): void => {
    const atSeconds = Date.now() / 1000 - seconds;
    utimesSync(lockPath, atSeconds, atSeconds);
  };
  writeFileSync(lockPath, `${gone}/task/${gone} 1 token`);
  LockFile.acquire(guarded).release();
  writeFileSync(lockPath, '');
  age(5);
  LockFile.acquire(guarded).release();
  const slow = LockFile.acquire(guarded);
  age(60);
  const lock = LockFile.acquire(guarded);
  const text = readFileSync(lockPath, 'utf8');
  assert.ok(text.startsWith(`${process.pid}/task/`));
  slow.release();
  assert.equal(readFileSync(lockPath, 'utf8'), text, 'only its holder lets it go');
  lock.release();
  assert.deepEqual(readdirSync(root), []);
});

test('the lock of a thread that was ended holds nobody up', async (t) => {
  const root = tempDir(t);
  const guarded = join(root, 'SUMS');
  const worker = new Worker(new URL('./lock-thread.ts', import.meta.url), { workerData: guarded });
  await new Promise((resolve) => worker.once('message', resolve));
  await worker.terminate();
  assert.deepEqual(readdirSync(root), ['.SUMS.lock']);
  const begun = performance.now();
  LockFile.acquire(guarded).release();
  assert.ok(performance.now() - begun < 5000);
  assert.deepEqual(readdirSync(root), []);
});
