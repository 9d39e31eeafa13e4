import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { TestClock } from '../../src/actors/kernel/index.ts';
import { LineWriter } from '../../src/actors/telemetry/line-writer.ts';
import type { LogFs } from '../../src/actors/telemetry/log-device.ts';
import { KEEP_FILES, LogFile } from '../../src/actors/telemetry/log-file.ts';
import { type HasAfter, tempDir } from '../support/temp-dir.ts';

interface Setup {
  readonly clock: TestClock;
  readonly path: string;
  readonly writer: LineWriter;
  readonly told: string[];
  /** Writes the line and waits for the disk. */
  put(line: string): Promise<void>;
  names(): string[];
  text(name: string): string;
}

function setup(t: HasAfter, options: { maxBytes?: number; keepDays?: number; files?: LogFs } = {}): Setup {
  const dir = join(tempDir(t), 'logs');
  const path = join(dir, 'colibri.log');
  const clock = new TestClock(Date.now());
  const told: string[] = [];
  const { maxBytes = 100, keepDays = 14, files } = options;
  const device = new LogFile({ path, maxBytes, keepDays, clock, ...(files === undefined ? {} : { files }) });
  const writer = new LineWriter({
    device,
    clock,
    flushMs: 10,
    onFailing: (error) => told.push(`failing ${error.code}`),
    onResumed: () => told.push('resumed'),
  });
  t.after(() => writer.close(10));
  return {
    clock,
    path,
    writer,
    told,
    async put(line) {
      writer.write(`${line}\n`);
      await writer.flush(5000);
    },
    names: () => fs.readdirSync(dir).sort(),
    text: (name) => fs.readFileSync(join(dir, name), 'utf8'),
  };
}

test('a file is begun with its folder, 0600, and continued by the next start', async (t) => {
  const { path, put, names } = setup(t);
  await put('one');
  assert.equal(fs.statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(names(), ['colibri.log']);
  const again = new LogFile({ path, maxBytes: 100, keepDays: 1, clock: new TestClock() });
  again.writeSync({ bytes: Buffer.from('two\n'), offset: 0, length: 4, atLineStart: true });
  again.close();
  assert.equal(fs.readFileSync(path, 'utf8'), 'one\ntwo\n');
});

test('a file that is full is set aside under the time; no line is torn or lost', async (t) => {
  const { clock, put, names, text } = setup(t, { maxBytes: 25 });
  const lines = Array.from({ length: 9 }, (_, i) => `line ${i} ..`);
  for (const line of lines) {
    await put(line);
    await clock.advance(7);
  }
  const all = names();
  assert.equal(all.length, 5);
  assert.match(all[1] ?? '', /^colibri\.log\.\d{8}T\d{9}Z$/);
  const inOrder = [...all.slice(1), 'colibri.log'].map(text);
  assert.equal(inOrder.join(''), lines.map((line) => `${line}\n`).join(''));
  for (const part of inOrder) assert.ok(part.length <= 25);
});

test('rotations within one millisecond keep their names apart', async (t) => {
  const { put, names } = setup(t, { maxBytes: 5 });
  for (const line of ['1234', '2345', '3456']) await put(line);
  assert.equal(names().length, 3);
});

test('old files go by age and by number; files of others stay', async (t) => {
  const { clock, path, put, names } = setup(t, { maxBytes: 5, keepDays: 1 });
  await put('0000');
  fs.writeFileSync(`${path}.note`, 'mine');
  const old = `${path}.20200101T000000000Z`;
  fs.writeFileSync(old, 'old');
  fs.utimesSync(old, new Date(0), new Date(0));
  for (let i = 0; i < KEEP_FILES + 5; i++) {
    await put(String(i).padStart(4, '0'));
    await clock.advance(1);
  }
  assert.ok(!fs.existsSync(old));
  assert.ok(fs.existsSync(`${path}.note`));
  assert.equal(names().length, KEEP_FILES + 2);
});

test('a file that was moved by somebody else is begun again', async (t) => {
  const { clock, path, put, text } = setup(t);
  await put('before');
  fs.renameSync(path, `${path}.1`);
  await clock.advance(1000);
  await put('after');
  assert.equal(text('colibri.log'), 'after\n');
  assert.equal(text('colibri.log.1'), 'before\n');
});

test('a disk without room: the open file is kept and written when there is room again', async (t) => {
  let full = true;
  const files: LogFs = {
    ...fs,
    write: ((
      fd: number,
      ...rest: [Buffer, number, number, null, (error: Error | null, n: number) => void]
    ) => {
      if (!full) return fs.write(fd, ...rest);
      queueMicrotask(() => rest[4](Object.assign(new Error('no space'), { code: 'ENOSPC' }), 0));
    }) as LogFs['write'],
  };
  const { clock, put, told, text, writer } = setup(t, { files });
  await put('kept');
  assert.deepEqual(told, ['failing ENOSPC']);
  full = false;
  await clock.advance(1000);
  await writer.flush(5000);
  assert.equal(text('colibri.log'), 'kept\n');
  assert.deepEqual(told, ['failing ENOSPC', 'resumed']);
});

test('a folder that cannot be made is an error of the write, and is made once it can', async (t) => {
  let denied = true;
  const files: LogFs = {
    ...fs,
    openSync: (...given) => {
      if (denied) throw Object.assign(new Error('denied'), { code: 'EACCES' });
      return fs.openSync(...given);
    },
  };
  const { clock, put, told, text, writer } = setup(t, { files });
  await put('kept');
  assert.deepEqual(told, ['failing EACCES']);
  denied = false;
  await clock.advance(1000);
  await writer.flush(5000);
  assert.equal(text('colibri.log'), 'kept\n');
});
