/** An app with a journal: what was accepted outlives it; and what its log says of a function that holds the event loop. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestClock as Steps } from '../../src/main/index.ts';
import { tempDir } from '../support/temp-dir.ts';
import { library } from './library.ts';

const { App, ColibriError, readResult, TestClock } = library;

const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 0, 1);

/** What one program does at each of its starts. */
function program(directory: string, clock: Steps) {
  const app = new App({
    directory,
    clock,
    shutdown: { graceSeconds: 0 },
    log: { file: './log', level: 'warn' },
  });
  const began: string[] = [];
  const remind = app.task(
    { name: 'remind', onInterrupted: 'rerun' },
    async (who: string, { run, signal }) => {
      began.push(run);
      if (who === 'nobody') await new Promise((_, reject) => signal.addEventListener('abort', reject));
      return who;
    },
  );
  const blocks = app.task({ name: 'blocks' }, async (after: 'call' | 'await') => {
    if (after === 'await') await new Promise(setImmediate);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 350);
  });
  return { app, began, remind, blocks };
}

test('what an app accepted outlives it: runs that begin later, and runs that its stop cut', async (t) => {
  const directory = tempDir(t);
  const before = program(directory, new TestClock(START_MS));
  t.after(() => before.app.stop());
  await before.app.start();
  assert.ok(existsSync(join(directory, 'state/journal.db')));
  assert.ok(!existsSync(join(directory, 'state/control.sock')), 'nobody commands a guest from outside');

  const other = program(directory, new TestClock(START_MS)).app;
  const isHeld = (error: unknown) =>
    error instanceof ColibriError &&
    error.code === 'state-dir-held' &&
    /another app of this program holds.*stateDir$/.test(error.message);
  await assert.rejects(other.start(), isHeld);
  await assert.rejects(other.start(), isHeld);

  const done = await before.app.trigger(before.remind, 'me', { wait: true });
  assert.equal(done.result, 'me');
  const later = await before.app.trigger(before.remind, 'you', { inMs: HOUR_MS });
  const cut = await before.app.trigger(before.remind, 'nobody');
  await before.app.trigger(before.blocks, 'call', { wait: true });
  await before.app.trigger(before.blocks, 'await', { wait: true });
  const waiting = before.app.trigger(before.blocks, 'call', { inMs: HOUR_MS, wait: true });
  const told = assert.rejects(waiting, ColibriError);
  await before.app.stop();
  await told;

  const lines = readFileSync(join(directory, 'log'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  // What else held the event loop has its lines too.
  const held = lines.filter(({ msg }) => /event loop/.test(msg));
  const call = held.find(({ task }) => task === 'blocks');
  const after = held.find(({ tasks }) => tasks === 'remind, blocks');
  assert.ok(call !== undefined && after !== undefined, JSON.stringify(held));
  assert.match(call.msg, /a function held the event loop/);
  assert.ok(call.held_ms >= 340 && call.run.startsWith('blocks@'));
  assert.match(after.msg, /while functions were running/);

  const clock = new TestClock(START_MS + HOUR_MS / 2);
  const again = program(directory, clock);
  t.after(() => again.app.stop());
  await again.app.start();
  assert.equal((await again.app.run(done.id))?.result, 'me');
  assert.equal((await again.app.run(later.id))?.state, 'pending');
  const ended = new Promise<unknown>((resolve) => {
    again.app.on('runEnded', ({ id, result }) => id === later.id && resolve(result));
  });
  await again.app.trigger(again.remind, 'first', { force: true, wait: true });
  assert.equal(again.began[0], cut.id);
  await again.app.cancel(cut.id);
  await again.app.idle();
  await clock.advance(HOUR_MS);
  assert.equal(await ended, 'you');
});

test('a large result lies in a file: steps and those who wait get what is in it, and it goes with its run', async (t) => {
  const directory = tempDir(t);
  const folder = join(directory, 'state/results');
  const app = new App({ directory, retention: { results: 2 } });
  const rows = app.task<{ count: number }, { index: number }[]>({
    name: 'rows',
    kind: 'cpu',
    module: new URL('./modules/rows.ts', import.meta.url),
  });
  const text = app.task(
    { name: 'text', dependsOn: [rows] },
    ({ count }: { count: number }, { resultOf }) =>
      `${resultOf(rows).at(-1)!.index} ${'y'.repeat(count * 100)}`,
  );
  const end = app.task({ name: 'end', dependsOn: [text] }, (_: { count: number }, { resultOf }) =>
    resultOf(text).slice(0, 6),
  );
  const large = app.flow('large', [rows, text, end]);
  t.after(() => app.stop());
  await app.start();
  const direct = await app.trigger(rows, { count: 5000 }, { wait: true });
  assert.equal(direct.result.length, 5000);
  const kept = await app.run(direct.id);
  assert.ok(!Array.isArray(kept?.result), 'what is kept of the run is the reference');
  assert.deepEqual(await readResult(kept?.result), direct.result);
  assert.equal(readdirSync(folder).length, 1);
  const flow = await app.trigger(large, { count: 5000 }, { wait: true });
  const last = (await app.runs({ task: end })).find((run) => run.flow === flow.id);
  assert.equal(last?.result, '4999 y');
  const gone = await app.run(direct.id);
  assert.deepEqual([gone?.state, gone?.result], ['success', undefined]);
  await assert.rejects(readResult(gone?.result), { code: 'result-forgotten' });
  // The newest results are those of `end` and `text`.
  const [left] = readdirSync(folder);
  assert.equal(readdirSync(folder).length, 1);
  // Changed by hand, and gone: both are told with the file, and with what is to be done.
  const reference = { $file: join(folder, left!), $bytes: 1 };
  writeFileSync(reference.$file, '["torn');
  const told = (message: RegExp) => ({ code: 'file-failed', message });
  await assert.rejects(
    readResult(reference),
    told(/results\/\S+\.json to have the JSON .* run its task again/),
  );
  unlinkSync(reference.$file);
  await assert.rejects(readResult(reference), told(/ENOENT.*results\/\S+\.json.*see retention/));
});
