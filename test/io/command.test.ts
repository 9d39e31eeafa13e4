import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext as NodeTest, test } from 'node:test';
import type { Outcome } from '../../src/actors/execution.ts';
import type { Handler } from '../../src/workers/handler.ts';
import type { RunContext } from '../../src/workers/handler-context.ts';
import { type CommandResult, createCommand } from '../../src/workers/handlers/command.ts';
import { endProcessesOf } from '../../src/workers/processes/left-processes.ts';
import { runHandler } from '../../src/workers/run-handler.ts';
import { tempDir } from '../support/temp-dir.ts';
import { order, testContext } from './io-fixtures.ts';

const command = createCommand();

interface Started {
  readonly context: RunContext;
  readonly outcome: Promise<Outcome>;
}

function start(input: unknown, run = 'run'): Started {
  const { context } = testContext(run);
  const outcome = runHandler({
    handle: command.handle as Handler,
    order: order(run, { input: JSON.stringify(input) }),
    context,
    monoMs: () => performance.now(),
  });
  return { context, outcome: Promise.resolve(outcome) };
}

async function succeed(input: unknown): Promise<CommandResult> {
  const outcome = await start(input).outcome;
  assert.equal(outcome.status, 'success', outcome.error?.message ?? 'no message');
  return JSON.parse(outcome.result ?? '');
}

/** Pids, not zombies, whose command line has `word`. */
function survivors(word: string): number[] {
  return readdirSync('/proc')
    .map((name) => Number(name))
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid)
    .filter((pid) => {
      try {
        const words: readonly string[] = readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0');
        if (!words.includes(word)) return false;
        return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
      } catch {
        return false;
      }
    });
}

/** Resolves once `file` is there; it is made by a rename or a redirection of the command. */
async function appears(t: NodeTest, dir: string, file: string): Promise<void> {
  const watcher = watch(dir);
  t.after(() => watcher.close());
  while (!readdirSync(dir).includes(file)) await once(watcher, 'change');
}

/** A number that no other test sleeps: found again in /proc. */
function uniqueSeconds(): string {
  return `1${String(process.pid).padStart(7, '0')}.${Math.floor(Math.random() * 1e6)}`;
}

/** A killed process is gone once the kernel has torn it down. */
function gone(word: string): Promise<void> {
  return survive(word, 0);
}

/** What runs `sleep` is known by its own command line, which it has after its exec. */
async function survive(word: string, count: number): Promise<void> {
  for (let tries = 0; survivors(word).length !== count; tries++) {
    assert.ok(tries < 5000, `expected ${count} survivors, got ${survivors(word)}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('exit 0: what was written on both streams, and the run in the environment', async () => {
  const result = await succeed({
    argv: ['sh', '-c', 'echo "$COLIBRI_RUN $COLIBRI_TASK $COLIBRI_ATTEMPT $EXTRA"; printf err >&2'],
    env: { EXTRA: 'more' },
  });
  assert.deepEqual(result, {
    exit_code: 0,
    signal: null,
    stdout: 'run task 2 more\n',
    stderr: 'err',
    stdout_bytes: 16,
    stderr_bytes: 3,
  });
});

test('no shell unless asked: arguments go through as they are', async () => {
  const hard = ['a b', '$HOME', '`id`', ';true', '*', '', 'ü\n"\''];
  const result = await succeed({ argv: ['printf', '[%s]', ...hard] });
  assert.equal(result.stdout, hard.map((text) => `[${text}]`).join(''));
  assert.equal((await succeed({ argv: 'echo $((1 + 1))', shell: true })).stdout, '2\n');
});

test('cwd, stdin and PATH of env', async (t) => {
  const dir = tempDir(t);
  mkdirSync(join(dir, 'bin'));
  writeFileSync(join(dir, 'bin', 'own-tool'), '#!/bin/sh\nexec /bin/cat\n');
  chmodSync(join(dir, 'bin', 'own-tool'), 0o755);
  const own = await succeed({ argv: ['own-tool'], env: { PATH: join(dir, 'bin') }, stdin: 'ü'.repeat(3000) });
  assert.equal(own.stdout, 'ü'.repeat(3000));
  assert.equal((await succeed({ argv: ['pwd'], cwd: join(dir, 'bin') })).stdout, `${join(dir, 'bin')}\n`);
  assert.equal((await succeed({ argv: ['true'], stdin: 'x'.repeat(1e6) })).exit_code, 0);
});

test('exit code other than 0 and death by signal: command-failed with the tail of stderr', async () => {
  const code = await start({ argv: ['sh', '-c', 'echo first >&2; echo last words >&2; exit 3'] }).outcome;
  assert.equal(code.status, 'failed');
  assert.equal(code.error?.code, 'command-failed');
  assert.match(code.error?.message ?? '', /"sh" to exit with 0, got 3; stderr ends:\nfirst\nlast words$/);
  assert.equal(code.retryable, true);
  const signal = await start({ argv: ['sh', '-c', 'kill -9 $$'] }).outcome;
  assert.match(signal.error?.message ?? '', /got signal SIGKILL; it wrote nothing to stderr/);
});

test('a program that cannot start: said what is wrong, not retried', async (t) => {
  const dir = tempDir(t);
  writeFileSync(join(dir, 'plain'), 'text');
  const cases: readonly [input: unknown, message: RegExp][] = [
    [{ argv: ['no-such-program-anywhere'] }, /"no-such-program-anywhere" to be a program on the PATH/],
    [{ argv: ['true'], cwd: join(dir, 'none') }, /cwd to be a folder that exists, got .*none/],
    [{ argv: [join(dir, 'plain')] }, /executable/],
  ];
  for (const [input, message] of cases) {
    const outcome = await start(input).outcome;
    assert.equal(outcome.error?.code, 'command-failed');
    assert.match(outcome.error?.message ?? '', message);
    assert.equal(outcome.retryable, false);
  }
});

test('input that is wrong is input-invalid and names the key', async () => {
  const cases: readonly [input: unknown, message: RegExp][] = [
    [{ argv: [] }, /argv/],
    [{ argv: [''] }, /argv/],
    [{}, /argv/],
    [{ argv: 'echo 1' }, /shell: true/],
    [{ argv: ['echo', null] }, /argv/],
    [{ argv: ['a\0b'] }, /NUL/],
    [{ argv: ['a', 'b'], shell: true }, /one text/],
    [{ argv: ['true'], shell: 'yes' }, /shell/],
    [{ argv: ['true'], cwd: 1 }, /cwd/],
    [{ argv: ['true'], env: { A: [1] } }, /env\.A/],
    [{ argv: ['true'], env: [] }, /env/],
    [{ argv: ['true'], stdin: {} }, /stdin/],
    [{ argv: ['true'], kill_signal: 'SIGNOPE' }, /kill_signal/],
    [null, /object/],
    [['true'], /object/],
  ];
  for (const [input, message] of cases) {
    const outcome = await start(input).outcome;
    assert.equal(outcome.error?.code, 'input-invalid', JSON.stringify(input));
    assert.match(outcome.error?.message ?? '', message);
    assert.equal(outcome.retryable, false);
  }
});

test('P1: 100 MB on both streams are drained, head and tail kept, memory flat', async () => {
  const flood = (megabytes: number) =>
    `(echo start; head -c ${megabytes}000000 /dev/zero | tr '\\0' x; echo end) & ` +
    `(echo start; head -c ${megabytes}000000 /dev/zero | tr '\\0' y; echo end) >&2; wait`;
  await succeed({ argv: flood(5), shell: true });
  const before = process.memoryUsage.rss();
  const result = await succeed({ argv: flood(100), shell: true });
  const grownMb = (process.memoryUsage.rss() - before) / 1e6;
  assert.equal(result.stdout_bytes, 100_000_010);
  assert.equal(result.stderr_bytes, 100_000_010);
  assert.match(result.stdout, /^start\nx+\n… \[\d+ bytes cut\] …\nx+end\n$/);
  assert.match(result.stderr, /^start\ny+\n… \[\d+ bytes cut\] …\ny+end\n$/);
  assert.ok(result.stdout.length < 17_000);
  assert.ok(grownMb < 25, `grew by ${grownMb} MB`);
});

test('P2: the program exits while what it left behind holds its output: done soon, its output whole', async (t) => {
  const seconds = uniqueSeconds();
  t.after(() => {
    for (const pid of survivors(seconds)) process.kill(pid, 'SIGKILL');
  });
  const startMono = performance.now();
  const result = await succeed({ argv: ['sh', '-c', `echo before; sleep ${seconds} & echo after`] });
  assert.equal(result.stdout, 'before\nafter\n');
  assert.ok(performance.now() - startMono < 5000);
  // What a program leaves behind on purpose, when nobody told it to stop, is its own affair.
  await survive(seconds, 1);
});

test('P3: a run that is told to stop leaves no process', async (t) => {
  const trees: readonly [name: string, script: (seconds: string, ready: string) => string][] = [
    ['background and foreground', (s, ready) => `sleep ${s} & : > ${ready}; sleep ${s}`],
    ['deaf to SIGTERM', (s, ready) => `trap '' TERM; sleep ${s} & : > ${ready}; sleep ${s}; sleep ${s}`],
    ['in a session of its own', (s, ready) => `setsid sleep ${s} & : > ${ready}; sleep ${s}`],
    [
      'orphan in a session of its own',
      (s, ready) => `(setsid sh -c 'sleep ${s} & : > ${ready}; sleep ${s}' &); sleep ${s}`,
    ],
  ];
  await Promise.all(
    trees.map(async ([name, script], at) => {
      const dir = tempDir(t);
      const seconds = uniqueSeconds() + at;
      const { context, outcome } = start({ argv: ['sh', '-c', script(seconds, join(dir, 'ready'))] }, name);
      await appears(t, dir, 'ready');
      context.abort('timeout');
      const { status, error } = await outcome;
      assert.deepEqual([status, error?.code], ['failed', 'timeout'], name);
      await gone(seconds);
    }),
  );
});

test('a kill ends the tree at once, without the grace', async (t) => {
  const dir = tempDir(t);
  const seconds = uniqueSeconds();
  const script = `trap '' TERM; sleep ${seconds} & : > ready; sleep ${seconds}; sleep ${seconds}`;
  const { context, outcome } = start({ argv: script, shell: true, cwd: dir });
  await appears(t, dir, 'ready');
  context.kill('cancel');
  assert.equal((await outcome).status, 'cancelled');
  await gone(seconds);
});

test('the polite signal comes first, and what the program says to it is heard', async (t) => {
  const dir = tempDir(t);
  const script = `trap ': > asked; exit 0' INT; : > ready; while :; do sleep 0.01; done`;
  const { context, outcome } = start({ argv: script, shell: true, cwd: dir, kill_signal: 'SIGINT' });
  await appears(t, dir, 'ready');
  context.abort('cancel');
  assert.equal((await outcome).status, 'cancelled');
  assert.ok(readdirSync(dir).includes('asked'));
});

test('two runs of one name, as two daemons may have, do not end each other', async (t) => {
  const dir = tempDir(t);
  const seconds = uniqueSeconds();
  const kept = start({ argv: `: > ready; sleep ${seconds}`, shell: true, cwd: dir });
  await appears(t, dir, 'ready');
  const ended = start({ argv: `sleep ${seconds}9`, shell: true });
  ended.context.abort('cancel');
  assert.equal((await ended.outcome).status, 'cancelled');
  await survive(seconds, 1);
  kept.context.kill('cancel');
  assert.equal((await kept.outcome).status, 'cancelled');
  await gone(seconds);
});

test('told to stop before it started: nothing is started', async () => {
  const { context } = testContext();
  context.abort('shutdown');
  const handle = command.handle as Handler;
  await assert.rejects(Promise.resolve(handle({ argv: ['true'] }, context)), { code: 'cancelled' });
});

test('commands leave no pipe behind', async () => {
  const open = () => readdirSync('/proc/self/fd').length;
  await succeed({ argv: ['true'] });
  const before = open();
  for (let round = 0; round < 4; round++) {
    await Promise.all(Array.from({ length: 10 }, () => succeed({ argv: ['true'], stdin: 'x' })));
  }
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(open() <= before, `expected ${before} open files, got ${open()}`);
});

test('a thread that is gone: main ends what its runs have started, and nothing of others', async () => {
  const [lost, kept] = [uniqueSeconds(), uniqueSeconds()];
  const run = (name: string, seconds: string) =>
    start({ argv: ['sh', '-c', `sleep ${seconds} & sleep ${seconds} & wait`] }, name);
  const losing = run('lost \u00e9', lost);
  const keeping = run('kept', kept);
  await Promise.all([lost, kept].map((seconds) => survive(seconds, 2)));
  endProcessesOf(new Set());
  endProcessesOf(new Set(['lost \u00e9', 'another']));
  await gone(lost);
  assert.equal((await losing.outcome).status, 'failed');
  assert.equal(survivors(kept).length, 2, 'those of another run');
  keeping.context.kill('cancel');
  await keeping.outcome;
  await gone(kept);
});

test('result: json: what it writes is its result; with another exit code, without JSON or beyond a MiB it has failed', async () => {
  const run = (script: string) => start({ argv: ['sh', '-c', script], result: 'json' }).outcome;
  const made = await run('echo \'{"date":"2026-11-30","ids":[1,2]}\'; echo said >&2');
  assert.deepEqual(JSON.parse(made.result!), { date: '2026-11-30', ids: [1, 2] });
  const large = await run('printf \'"\'; head -c 200000 /dev/zero | tr "\\0" x; printf \'"\'');
  assert.equal(large.status, 'success');
  assert.equal(JSON.parse(large.result!).length, 200_000);
  for (const [script, why] of [
    ['echo 1; exit 3', /exit with 0, got 3/],
    ['true', /result: json says, got nothing/],
    ['echo {', /got text that is none/],
    ['head -c 2000000 /dev/zero', /got 2000000 bytes; at most 1048576/],
  ] as const) {
    const outcome = await run(script);
    assert.equal(outcome.error?.code, 'command-failed', script);
    assert.match(outcome.error.message, why);
  }
});

test('numbers and booleans that a template gave are text for the program', async () => {
  const { stdout } = await succeed({
    argv: ['sh', '-c', 'echo "$1 $2 $N $(cat)"', 'sh', 7, true],
    env: { N: 1.5 },
    stdin: 12,
  });
  assert.equal(stdout, '7 true 1.5 12\n');
  for (const argv of [['echo', null], ['echo', {}], ['echo', ['a']], 5]) {
    const { error } = await start({ argv }).outcome;
    assert.equal(error?.code, 'input-invalid');
  }
});
