import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  linkSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Clock } from '../../src/actors/kernel/clock.ts';
import { ColibriError } from '../../src/actors/kernel/errors.ts';
import { GarbageCollector, usedHeapBytes } from '../../src/actors/kernel/index.ts';
import type { FoundItem } from '../../src/actors/protocol.ts';
import { type FileScanOptions, scanFiles } from '../../src/workers/files/file-scan.ts';
import { partName } from '../../src/workers/files/part-name.ts';
import { tempDir } from '../support/temp-dir.ts';

interface Input {
  readonly path: string;
  readonly relative: string;
  readonly root: string;
  readonly size: number;
  readonly mtime_ms: number;
}

async function scan(options: FileScanOptions): Promise<FoundItem[]> {
  const found: FoundItem[] = [];
  for await (const batch of scanFiles({ settleMs: 0, ...options })) {
    assert.ok(batch.length > 0 && batch.length <= (options.batchSize ?? 256));
    found.push(...batch);
  }
  return found;
}

function inputOf(item: FoundItem): Input {
  return JSON.parse(item.input) as Input;
}

function names(items: readonly FoundItem[]): string[] {
  return items.map((item) => inputOf(item).relative).sort();
}

function put(root: string, ...paths: string[]): void {
  for (const path of paths) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), path);
  }
}

/** Waiting is over at once, and the wall has moved by as much. */
function quickClock(startAtMs: number): Clock & { waits: number } {
  let wall = startAtMs;
  const clock = {
    waits: 0,
    wallMs: () => wall,
    monoMs: () => wall,
    setTimer(delayMs: number, callback: () => void) {
      clock.waits += 1;
      wall += delayMs;
      setImmediate(callback);
      return { cancel() {}, unref() {} };
    },
  };
  return clock;
}

test('finds what matches, with what a handler needs to know', async (t) => {
  const root = tempDir(t);
  put(
    root,
    'a.txt',
    'sub/b.txt',
    'sub/deep/c.txt',
    '.hidden',
    'sub/.git/x.txt',
    'with space',
    '-dash',
    'new\nline',
    'ümläut',
  );
  const found = await scan({ root, pattern: '**/*' });
  assert.deepEqual(
    names(found),
    ['-dash', 'a.txt', 'new\nline', 'sub/b.txt', 'sub/deep/c.txt', 'with space', 'ümläut'].sort(),
  );
  const deep = found.map(inputOf).find(({ relative }) => relative === 'sub/deep/c.txt')!;
  assert.equal(deep.path, join(root, 'sub/deep/c.txt'));
  assert.equal(deep.root, root);
  assert.equal(deep.size, 'sub/deep/c.txt'.length);
  assert.ok(Number.isInteger(deep.mtime_ms) && Math.abs(deep.mtime_ms - Date.now()) < 60_000);
  assert.deepEqual(names(await scan({ root, pattern: 'sub/*.txt' })), ['sub/b.txt']);
});

test('the mark is stable, and another one for another size, time, inode or path', async (t) => {
  const root = tempDir(t);
  const path = join(root, 'a');
  const mark = async (): Promise<string> => {
    const [item] = await scan({ root, pattern: '*' });
    assert.match(item!.mark, /^[0-9a-f]{16}$/);
    return item!.mark;
  };
  writeFileSync(path, 'x');
  utimesSync(path, 1000, 1000);
  const marks = [await mark()];
  assert.equal(await mark(), marks[0]);
  writeFileSync(path, 'xy');
  utimesSync(path, 1000, 1000);
  marks.push(await mark());
  utimesSync(path, 1000, 1000.001);
  marks.push(await mark());
  writeFileSync(join(root, '.b'), 'xy');
  utimesSync(join(root, '.b'), 1000, 1000.001);
  renameSync(join(root, '.b'), path);
  marks.push(await mark());
  renameSync(path, join(root, 'b'));
  marks.push(await mark());
  assert.equal(new Set(marks).size, marks.length);
});

test('links are not followed and only regular files are found', async (t) => {
  const base = tempDir(t);
  const root = join(base, 'in');
  put(base, 'in/real', 'outside/secret');
  symlinkSync('..', join(root, 'up'));
  symlinkSync('nowhere', join(root, 'dangling'));
  symlinkSync('../outside/secret', join(root, 'out'));
  symlinkSync('../outside', join(root, 'folder'));
  symlinkSync('real', join(root, 'alias'));
  execFileSync('mkfifo', [join(root, 'pipe')]);
  assert.deepEqual(names(await scan({ root, pattern: '**/*' })), ['real']);
  assert.deepEqual(names(await scan({ root, pattern: 'folder/*' })), []);
});

test('part files are never found', async (t) => {
  const root = tempDir(t);
  put(root, 'a', partName('a', 'run-1'), 'a.part-1');
  assert.deepEqual(names(await scan({ root, pattern: '*' })), ['a', 'a.part-1']);
});

test('a file still being written is looked at again at the end, and then left for the next scan', async (t) => {
  const root = tempDir(t);
  put(root, 'old', 'fresh', 'growing', 'from-the-future', 'growing-in-the-future');
  const nowMs = Date.UTC(2026, 5, 1);
  const touch = (name: string, atMs: number): void => utimesSync(join(root, name), atMs / 1000, atMs / 1000);
  touch('old', nowMs - 60_000);
  touch('fresh', nowMs - 10);
  touch('growing', nowMs - 10);
  touch('from-the-future', nowMs + 3_600_000);
  touch('growing-in-the-future', nowMs + 3_600_000);
  const unsettled: string[] = [];
  const clock = quickClock(nowMs);
  const batches: string[][] = [];
  for await (const batch of scanFiles({
    root,
    pattern: '*',
    clock,
    onUnsettled: (path) => unsettled.push(path),
  })) {
    batches.push(names(batch));
    touch('growing', clock.wallMs() + 900);
    touch('growing-in-the-future', nowMs + 3_600_100);
    if (batches.length === 1) assert.equal(clock.waits, 0);
  }
  assert.deepEqual(batches, [['old'], ['fresh', 'from-the-future']]);
  assert.deepEqual(unsettled.sort(), [join(root, 'growing'), join(root, 'growing-in-the-future')]);
  assert.equal(clock.waits, 1);
});

test('a scan of files at rest does not wait', async (t) => {
  const root = tempDir(t);
  put(root, 'a');
  const clock = quickClock(Date.now() + 5000);
  assert.deepEqual(names(await scan({ root, pattern: '*', clock, settleMs: 1000 })), ['a']);
  assert.equal(clock.waits, 0);
});

test('a missing root is an error that names it; a file as root too', async (t) => {
  const root = tempDir(t);
  put(root, 'file');
  for (const bad of [join(root, 'missing'), join(root, 'file')]) {
    await assert.rejects(
      scan({ root: bad, pattern: '*' }),
      (thrown) =>
        thrown instanceof ColibriError && thrown.code === 'file-failed' && thrown.message.includes(bad),
    );
  }
});

test('a folder that is too deep is told and the rest goes on', async (t) => {
  const root = tempDir(t);
  const deep = Array.from({ length: 130 }, () => 'd').join('/');
  put(root, 'a/1', `${deep}/2`, 'z/3');
  const skipped: string[] = [];
  const found = await scan({
    root,
    pattern: '**/*',
    onSkipped: (path, reason) => skipped.push(path + reason),
  });
  assert.deepEqual(names(found), ['a/1', 'z/3']);
  assert.equal(skipped.length, 1);
  assert.match(skipped[0]!, /128 deep/);
});

test('folders and files that vanish while it scans do not end it', async (t) => {
  const root = tempDir(t);
  const folders = Array.from({ length: 20 }, (_, index) => `d${index}`);
  put(root, ...folders.map((name) => `${name}/file`));
  const skipped: string[] = [];
  const found: string[] = [];
  // All names of the root are read at once; its folders are opened one by one.
  for await (const batch of scanFiles({
    root,
    pattern: '**/*',
    batchSize: 1,
    settleMs: 0,
    onSkipped: (path, reason) => skipped.push(`${path} ${reason}`),
  })) {
    found.push(...names(batch));
    for (const name of folders) {
      if (!found.includes(`${name}/file`)) rmSync(join(root, name), { recursive: true, force: true });
    }
  }
  assert.equal(found.length, 1);
  assert.equal(skipped.length, 19);
  for (const told of skipped) assert.match(told, /d\d+ ENOENT$/);
});

test('a name that is not UTF-8 is told and never taken for another file', async (t) => {
  const root = tempDir(t);
  put(root, 'good');
  const bad = Buffer.concat([Buffer.from(`${root}/bad-`), Buffer.from([0xff])]);
  writeFileSync(bad, 'x');
  const badFolder = Buffer.concat([Buffer.from(`${root}/dir-`), Buffer.from([0xc3])]);
  mkdirSync(badFolder);
  put(root, 'kept-\ufffd');
  const skipped: string[] = [];
  const found = names(
    await scan({ root, pattern: '**/*', onSkipped: (_path, reason) => skipped.push(reason) }),
  );
  assert.deepEqual(found, ['good', 'kept-\ufffd']);
  assert.equal(skipped.length, 2);
  for (const reason of skipped) assert.match(reason, /UTF-8/);
});

test('an aborted scan ends early and closes its folders', async (t) => {
  const root = tempDir(t);
  put(root, ...Array.from({ length: 50 }, (_, index) => `d/${index}`));
  let looks = 0;
  const found = await scan({ root, pattern: '**/*', batchSize: 5, aborted: () => ++looks > 20 });
  assert.ok(found.length > 0 && found.length < 50, `got ${found.length}`);
});

test('a consumer that stops early leaves nothing open', async (t) => {
  const root = tempDir(t);
  put(root, ...Array.from({ length: 20 }, (_, index) => `d/${index}`));
  // Only what the scan may hold: the runtime opens and closes others as it likes.
  const open = (): number =>
    readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).startsWith(root);
      } catch {
        return false;
      }
    }).length;
  for await (const batch of scanFiles({ root, pattern: '**/*', batchSize: 1, settleMs: 0 })) {
    assert.equal(batch.length, 1);
    assert.ok(open() > 0, 'a folder is open while the consumer waits');
    break;
  }
  assert.equal(open(), 0);
});

test('a folder of 12,000 files streams: what is held does not grow with it', async (t) => {
  const root = tempDir(t);
  put(root, 'file-0');
  for (let index = 1; index < 12_000; index += 1) linkSync(join(root, 'file-0'), join(root, `file-${index}`));
  const collector = new GarbageCollector();
  let files = 0;
  let peak = 0;
  collector.collect();
  const before = usedHeapBytes();
  const marks = new Set<string>();
  for await (const batch of scanFiles({ root, pattern: '**/*', settleMs: 0 })) {
    for (const { mark } of batch) {
      files += 1;
      // A sample, so that the set does not stand for what is measured.
      if (files % 100 === 0) marks.add(mark);
    }
    if (files % 2560 === 0) {
      collector.collect();
      peak = Math.max(peak, usedHeapBytes() - before);
    }
  }
  assert.equal(files, 12_000);
  assert.equal(marks.size, 120);
  assert.ok(peak < 2 * 1024 * 1024, `held ${peak} bytes`);
  rmSync(root, { recursive: true });
});
