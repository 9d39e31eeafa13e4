/** What is seen of a thread from outside: whose code blocks it and where, also where it answers nothing. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { lookAtThread, placeText, type ThreadSight } from '../../src/actors/kernel/index.ts';
import { tempDir } from '../support/temp-dir.ts';

/** Starts a thread; resolves once it is about to do what `code` says, and then does it. */
async function thread(t: TestContext, code: string): Promise<Worker> {
  const begun = new Int32Array(new SharedArrayBuffer(4));
  const start = `
    const { workerData } = require('node:worker_threads');
    function begin() { Atomics.store(workerData, 0, 1); Atomics.notify(workerData, 0); }
    ${code}`;
  const worker = new Worker(start, { eval: true, workerData: begun });
  t.after(() => worker.terminate());
  await Atomics.waitAsync(begun, 0, 0).value;
  return worker;
}

/** JavaScript answers; on a busy machine the thread may not get a core in time. */
async function seen(worker: Worker): Promise<ThreadSight | null> {
  for (;;) {
    const sight = await lookAtThread(worker);
    if (sight?.stack !== null) return sight;
  }
}

const TELL_OWNER = `
  const owner = new (require('node:async_hooks').AsyncLocalStorage)();
  globalThis[Symbol.for('colibri.owner')] = () => owner.getStore();`;

test('an endless loop: its calls, innermost first, and for whom it runs, also after an await', async (t) => {
  const worker = await thread(
    t,
    `${TELL_OWNER}
    function spin() { begin(); for (;;); }
    owner.run('run-1', async () => { await null; setTimeout(function later() { spin(); }, 1); });
    owner.run('run-2', async () => { await null; });`,
  );
  const sight = await seen(worker);
  assert.match(sight?.stack ?? '', /^at spin \(.*\n.*later/);
  assert.equal(sight?.owner, 'run-1');
  assert.match(placeText(sight), /^, at spin \(.*:\d+:\d+\)$/);
});

test('what users put in the place of the stack is not asked, and is there again afterwards', async (t) => {
  const worker = await thread(
    t,
    `Error.stackTraceLimit = 0;
    Error.prepareStackTrace = () => { throw new Error('asked'); };
    const own = Error.prepareStackTrace;
    let seen = 0;
    function hop() {
      if (Error.prepareStackTrace === own && Error.stackTraceLimit === 0) seen++;
      else throw new Error('not put back');
    }
    begin();
    for (;;) hop();`,
  );
  for (let look = 0; look < 2; look++) {
    const sight = await seen(worker);
    assert.match(sight?.stack ?? '', /worker eval/);
    assert.equal(sight?.owner, null);
  }
});

test('a regular expression that backtracks forever is seen; the place is the call of it', async (t) => {
  const worker = await thread(
    t,
    `function match() { begin(); /^(a+)+$/.test('a'.repeat(99) + 'b'); } match();`,
  );
  assert.match(placeText(await seen(worker)), /^, at match /);
});

test('a native call answers nothing, an idle thread has nothing on its stack, a thread that ended is not there', async (t) => {
  let pipe = '';
  // A writer lets the thread go on; without one it could not end.
  t.after(() => closeSync(openSync(pipe, 'r+')));
  pipe = join(tempDir(t), 'pipe');
  execFileSync('mkfifo', [pipe]);
  const native = await thread(t, `begin(); require('node:fs').openSync(${JSON.stringify(pipe)}, 'r');`);
  const idle = await thread(t, `setInterval(() => {}, 60_000); begin();`);
  let inside = await lookAtThread(native);
  // Once it is in it: it may lose its core right before.
  while (inside?.stack !== null) inside = await lookAtThread(native);
  assert.deepEqual(inside, { stack: null, owner: null });
  // Once it has nothing left of its start.
  let nothing = await seen(idle);
  while (nothing?.stack !== '') nothing = await seen(idle);
  assert.equal(placeText(inside), ', as it seems inside a native call');
  assert.deepEqual(nothing, { stack: '', owner: null });
  assert.equal(placeText(nothing), '');
  await idle.terminate();
  assert.equal(await lookAtThread(idle), null);
});
