import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { systemClock, TestClock } from '../../src/actors/kernel/index.ts';
import { CHUNK_BYTES, LineWriter, MAX_CHUNKS } from '../../src/actors/telemetry/line-writer.ts';
import { createDescriptorDevice } from '../../src/actors/telemetry/log-device.ts';
import { FLUSH_TIMEOUT_MS } from '../../src/actors/telemetry/telemetry-actor.ts';
import { THREAD_STOP_MS } from '../../src/main/daemon.ts';
import { tempDir } from '../support/temp-dir.ts';
import { FakeDevice, rig } from './fixtures.ts';

function writerOn(device: FakeDevice, clock: TestClock) {
  const told: string[] = [];
  const writer = new LineWriter({
    device,
    clock,
    flushMs: 100,
    onFailing: (error) => told.push(`failing ${error.code}`),
    onResumed: (lost) => told.push(`resumed ${lost}`),
  });
  return { writer, told };
}

test('lines wait for company, at most for the flush time', async () => {
  const device = new FakeDevice();
  const clock = new TestClock();
  const { writer } = writerOn(device, clock);
  writer.write('a\n');
  writer.write('ü\n');
  await clock.advance(99);
  assert.equal(device.attempts, 0);
  await clock.advance(1);
  assert.equal(Buffer.from(device.text, 'latin1').toString(), 'a\nü\n');
  assert.equal(device.attempts, 1);
  assert.equal(clock.timers, 0);
});

test('whatever the device takes at once, all lines arrive whole and in order', async () => {
  const lines = fc.array(fc.string({ unit: 'grapheme', maxLength: 40 }), { maxLength: 200 });
  await fc.assert(
    fc.asyncProperty(lines, fc.integer({ min: 1, max: 5000 }), async (texts, most) => {
      const device = new FakeDevice();
      device.most = most;
      const { writer } = writerOn(device, new TestClock());
      for (const text of texts) writer.write(`${JSON.stringify(text)}\n`);
      await writer.close(1000);
      const got = Buffer.from(device.text, 'latin1').toString();
      assert.equal(got, texts.map((text) => `${JSON.stringify(text)}\n`).join(''));
      assert.ok(device.closed);
    }),
    { numRuns: 50 },
  );
});

test('a device that stands still costs a bounded buffer, and the loss is counted', async () => {
  const device = new FakeDevice();
  device.held = true;
  const { writer } = writerOn(device, new TestClock());
  const line = `${'x'.repeat(1023)}\n`;
  const room = (CHUNK_BYTES / 1024) * MAX_CHUNKS;
  for (let i = 0; i < room + 500; i++) writer.write(line);
  assert.equal(writer.dropped, 500);
  device.release();
  await writer.flush(1000);
  assert.equal(device.text.length, room * 1024);
});

test('a full disk: one warning, lines kept, writing resumes by itself', async () => {
  const device = new FakeDevice();
  const clock = new TestClock();
  const { writer, told } = writerOn(device, clock);
  device.fault = 'ENOSPC';
  writer.write('a\n');
  await clock.advance(10_000);
  writer.write('b\n');
  assert.deepEqual(told, ['failing ENOSPC']);
  assert.ok(writer.errors >= 9 && device.attempts <= 12);
  device.fault = null;
  await clock.advance(1000);
  assert.deepEqual(told, ['failing ENOSPC', 'resumed 0']);
  await clock.advance(1000);
  assert.equal(device.text, 'a\nb\n');
});

test('a broken pipe: what was for it is given up and counted', async () => {
  const device = new FakeDevice();
  const clock = new TestClock();
  const { writer, told } = writerOn(device, clock);
  device.fault = 'EPIPE';
  writer.write('a\n');
  writer.write('b\n');
  await clock.advance(100);
  assert.equal(writer.dropped, 2);
  device.fault = null;
  writer.write('c\n');
  await clock.advance(1000);
  assert.equal(device.text, 'c\n');
  assert.deepEqual(told, ['failing EPIPE', 'resumed 2']);
});

test('a busy pipe is no failure: it is tried again in silence', async () => {
  const device = new FakeDevice();
  const clock = new TestClock();
  const { writer, told } = writerOn(device, clock);
  device.fault = 'EAGAIN';
  writer.write('a\n');
  await clock.advance(500);
  assert.ok(device.attempts > 3);
  device.fault = null;
  await clock.advance(50);
  assert.equal(device.text, 'a\n');
  assert.deepEqual(told, []);
  assert.equal(writer.errors, 0);
});

test('flush and close end in time on a device that never answers', async () => {
  const device = new FakeDevice();
  const clock = new TestClock();
  const { writer } = writerOn(device, clock);
  device.held = true;
  writer.write('a\n');
  const closed = writer.close(2000);
  await clock.advance(2000);
  await closed;
});

test('a dying process writes its last lines without the event loop', () => {
  const device = new FakeDevice();
  const { writer } = writerOn(device, new TestClock());
  for (let i = 0; i < 20_000; i++) writer.write(`line ${i}\n`);
  writer.flushSync();
  assert.ok(device.text.endsWith('line 19999\n'));
});

test('a pipe that is full again and again does not use up the time of a flush', async () => {
  const device = new FakeDevice();
  const clock = new TestClock();
  const { writer } = writerOn(device, clock);
  device.most = CHUNK_BYTES / 4;
  device.busyEverySecond = true;
  const line = `${'x'.repeat(1023)}\n`;
  const count = (CHUNK_BYTES / 1024) * MAX_CHUNKS;
  for (let i = 0; i < count; i++) writer.write(line);
  const flushed = writer.flush(250);
  for (let at = 0; at < 249; at++) await clock.advance(1);
  assert.equal(device.text.length, count * 1024);
  await flushed;
});

test('the end of the actor fits into the time a thread has for it, and its last lines are written at once', async () => {
  const clock = new TestClock();
  const { device, behaviour, send } = rig(clock);
  device.held = true;
  await send('log', { level: 'info', atMs: 0, msg: 'first', fields: null });
  await clock.advance(100);
  await send('log', { level: 'info', atMs: 0, msg: 'last', fields: null });
  let ended = false;
  void Promise.resolve(behaviour.stop?.()).then(() => {
    ended = true;
  });
  await clock.advance(0);
  await clock.advance(FLUSH_TIMEOUT_MS);
  assert.ok(ended);
  assert.equal(device.lines.at(-1)?.msg, 'last');
  assert.ok(FLUSH_TIMEOUT_MS + 100 < THREAD_STOP_MS);
});

test('the actor warns once on stderr and says in the log that it goes on', async () => {
  const clock = new TestClock();
  const { device, send, warnings, lines } = rig(clock);
  device.fault = 'ENOSPC';
  await send('log', { level: 'info', atMs: 0, msg: 'kept', fields: null });
  await clock.advance(5000);
  device.fault = null;
  await clock.advance(1000);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? '', /ENOSPC/);
  assert.deepEqual(
    (await lines()).map(({ msg }) => msg),
    ['kept', 'log writing resumed'],
  );
});

test('a pipe whose reader stopped reading does not hold a thread: EAGAIN, and all arrives once it reads', async (t) => {
  const fifo = join(tempDir(t), 'fifo');
  execFileSync('mkfifo', [fifo]);
  const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
  // As a daemon inherits it: blocking.
  const fd = openSync(fifo, constants.O_WRONLY);
  const device = createDescriptorDevice(fd);
  t.after(() => {
    closeSync(reader);
    closeSync(fd);
  });
  const writer = new LineWriter({
    device,
    clock: systemClock,
    flushMs: 1,
    onFailing: (error) => assert.fail(error),
    onResumed: () => assert.fail('never failed'),
  });
  const lines = Array.from({ length: 3000 }, (_, i) => `${'x'.repeat(90)} ${i}\n`);
  for (const line of lines) writer.write(line);
  // More than a pipe holds: this cannot have been written.
  await writer.flush(100);
  let got = '';
  const buffer = Buffer.alloc(65_536);
  const wanted = lines.join('');
  while (got.length < wanted.length) {
    try {
      got += buffer.toString('latin1', 0, readSync(reader, buffer));
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'EAGAIN');
      await writer.flush(60);
    }
  }
  assert.equal(got, wanted);
  await writer.close(1000);
});
