/** The pool of functions on this thread: one outcome an order, whatever a function does. */
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { test } from 'node:test';
import type { ExecuteOrder, Outcome } from '../../src/actors/execution.ts';
import { ColibriError, SharedMark, TestClock } from '../../src/actors/kernel/index.ts';
import type { LogRecord } from '../../src/actors/protocol.ts';
import { isExcused } from '../../src/actors/runs/lifecycle.ts';
import type { Handler } from '../../src/workers/handler.ts';
import { InlinePool } from '../../src/workers/inline-pool/inline-pool.ts';
import { LoopWatch } from '../../src/workers/inline-pool/loop-watch.ts';

class Rig {
  readonly clock = new TestClock();
  readonly mark = new SharedMark();
  readonly outcomes: Outcome[] = [];
  readonly lines: LogRecord[] = [];
  readonly progress: [string, number, string | null][] = [];
  readonly queue: ExecuteOrder[] = [];
  readonly functions = new Map<string, Handler>();
  /** By input: what is still to be read of it. */
  readonly inputs = new Map<string, Promise<string>>();
  readonly pool: InlinePool;
  #waiting: { count: number; resolve: () => void }[] = [];

  constructor(slots = 10) {
    this.pool = new InlinePool({
      functions: this.functions,
      source: { peekTask: () => this.queue[0]?.task, take: () => this.queue.shift() },
      slots,
      clock: this.clock,
      mark: this.mark,
      watch: new LoopWatch(() => {}),
      wholeInput: ({ input }) => this.inputs.get(input) ?? null,
      onOutcome: (outcome) => {
        this.outcomes.push(outcome);
        this.pool.wake();
        for (const one of this.#waiting) if (this.outcomes.length >= one.count) one.resolve();
      },
      onLog: (record) => this.lines.push(record),
      onProgress: (...said) => this.progress.push(said),
    });
  }

  add(name: string, handle: Handler, more: Partial<ExecuteOrder> = {}): void {
    this.functions.set(name, handle);
    const order = { run: `${name}@1`, task: name, attempt: 1, handler: name, input: '{}', timeoutMs: 1000 };
    this.queue.push({ ...order, ...more });
    this.pool.wake();
  }

  ended(count: number): Promise<void> {
    if (this.outcomes.length >= count) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ count, resolve }));
  }

  /** Resolves when so many are on slots: what is more than the share of one turn comes in the next. */
  async active(count: number): Promise<void> {
    while (this.pool.active !== count) await new Promise((turn) => setImmediate(turn));
  }

  of(name: string): Outcome[] {
    return this.outcomes.filter(({ run }) => run === `${name}@1`);
  }
}

const never = () => new Promise<never>(() => {});
const heeds: Handler = (_input, { signal }) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

test('whatever a function does comes out as one outcome', async () => {
  const rig = new Rig();
  const cases: readonly (readonly [string, Handler, string, string | null])[] = [
    ['value', (input) => input, '{"a":1}', null],
    ['promise', async () => [1, null], '[1,null]', null],
    // biome-ignore lint/suspicious/noThenProperty: a promise of some other library
    ['thenable', () => ({ then: (done: (value: number) => void) => done(5) }) as never, '5', null],
    ['nothing', () => undefined, 'null', null],
    ['throws', () => Promise.reject(new Error('no')), '', 'handler-failed'],
    [
      'throws-at-once',
      () => {
        throw new TypeError('no');
      },
      '',
      'handler-failed',
    ],
    [
      'throws-text',
      () => {
        throw 'no';
      },
      '',
      'handler-failed',
    ],
    ['rejects-nothing', () => Promise.reject(undefined), '', 'handler-failed'],
    ['not-json', () => 1n as never, '', 'result-not-json'],
    [
      'lies',
      () => {
        throw new Proxy({}, { get: () => never(), getPrototypeOf: () => null });
      },
      '',
      'handler-failed',
    ],
  ];
  for (const [name, handle] of cases) rig.add(name, handle, { input: '{"a":1}' });
  rig.queue.push({ run: 'gone@1', task: 'gone', attempt: 1, handler: 'gone', input: '{}', timeoutMs: 5 });
  await rig.ended(cases.length + 1);
  for (const [name, , result, code] of cases) {
    const [outcome, second] = rig.of(name);
    assert.equal(outcome?.status, code === null ? 'success' : 'failed', name);
    assert.equal(outcome.result ?? '', result, name);
    assert.equal(outcome.error?.code ?? null, code, name);
    assert.equal(second, undefined);
  }
  assert.equal(rig.of('gone')[0]?.error?.code, 'no-such-handler');
  assert.equal(rig.pool.active, 0);
});

test('a timeout tells the function, and takes the slot from one that does not heed it', async () => {
  const rig = new Rig(2);
  const late = Promise.withResolvers<string>();
  rig.add('heeds', heeds);
  rig.add('deaf', () => late.promise);
  rig.add('next', () => 'ran', { timeoutMs: 60_000 });
  await rig.active(2);
  await rig.clock.advance(999);
  assert.deepEqual([rig.outcomes.length, rig.pool.active], [0, 2]);
  await rig.clock.advance(1);
  await rig.ended(2);
  assert.equal(rig.of('heeds')[0]?.error?.code, 'timeout');
  assert.equal(rig.of('next')[0]?.status, 'success');
  assert.equal(rig.pool.active, 1, 'the deaf one has its grace');
  await rig.clock.advance(1000);
  assert.equal(rig.of('deaf')[0]?.error?.code, 'timeout');
  assert.equal(rig.pool.active, 0);
  late.resolve('too late');
  await rig.clock.advance(0);
  assert.deepEqual([rig.outcomes.length, rig.pool.lateOutcomes], [3, 1]);
  assert.match(rig.lines[0]?.msg ?? '', /ignored/);
  assert.equal(rig.clock.timers, 0, 'no timer is left');
});

test('a cancel reaches what runs, and what still waits for the journal', async () => {
  const rig = new Rig();
  rig.add('running', heeds);
  let begun = false;
  const begin = () => {
    begun = true;
  };
  rig.add('waiting', begin, { after: 7 });
  rig.add('kept', () => 'ran', { after: 3 });
  await rig.active(3);
  assert.equal(rig.pool.abort('nobody@1', 'cancel'), false);
  assert.equal(rig.pool.abort('running@1', 'cancel'), true);
  assert.equal(rig.pool.abort('waiting@1', 'cancel'), true);
  rig.mark.advance(3);
  await rig.ended(3);
  assert.deepEqual(rig.outcomes.map(({ run, status }) => [run, status]).sort(), [
    ['kept@1', 'success'],
    ['running@1', 'cancelled'],
    ['waiting@1', 'cancelled'],
  ]);
  // Who waited longer has been told by then.
  const kept = rig.mark.wait(7);
  rig.mark.advance(7);
  await kept;
  await rig.clock.advance(0);
  assert.deepEqual([rig.outcomes.length, rig.pool.lateOutcomes, begun], [3, 0, false]);
});

test('functions that end at once leave the event loop its turns, and slots are a bound', async () => {
  const rig = new Rig(3);
  let most = 0;
  for (let index = 0; index < 60; index++) {
    rig.add('spins', () => {
      most = Math.max(most, rig.pool.active);
      for (const end = performance.now() + 1; performance.now() < end; );
    });
  }
  let turns = 0;
  const count = (): void => {
    turns++;
    if (rig.outcomes.length < 60) setImmediate(count);
  };
  setImmediate(count);
  await rig.ended(60);
  assert.ok(turns >= 4, `expected turns in between, got ${turns}`);
  assert.ok(most <= 3);
});

test('a function runs in no context of whoever woke the pool', async () => {
  const rig = new Rig();
  const storage = new AsyncLocalStorage<string>();
  storage.run('of a request', () => rig.add('asks', () => storage.getStore() ?? 'none'));
  await rig.ended(1);
  assert.equal(rig.outcomes[0]?.result, '"none"');
});

test('lines and progress are the run’s, and bounded', async () => {
  const rig = new Rig();
  rig.add('talks', (_input, { log, progress }) => {
    log.warn('hello', { n: 1, run: 'another' });
    log.info('odd', { big: 1n });
    progress(0.5, 'half');
    for (let line = 0; line < 1000; line++) log.debug('again');
  });
  await rig.ended(1);
  const own = { run: 'talks@1', task: 'talks', attempt: 1 };
  assert.deepEqual(rig.lines[0]?.fields, { n: 1, ...own });
  assert.deepEqual(rig.lines[1]?.fields, { fields_cut: 'not JSON', ...own });
  assert.deepEqual(rig.progress, [['talks@1', 0.5, 'half']]);
  assert.ok(rig.lines.length <= 200);
});

test('drain waits for what runs, destroy for nothing; each run has its outcome', async () => {
  const rig = new Rig();
  rig.add('heeds', heeds);
  rig.add('deaf', never);
  await rig.active(2);
  const drained = rig.pool.drain();
  rig.add('too-late', () => assert.fail('must not begin'));
  await rig.pool.destroy();
  await drained;
  await rig.pool.destroy();
  await rig.clock.advance(0);
  assert.deepEqual(
    rig.outcomes.map(({ run, status }) => [run, status]),
    [
      ['heeds@1', 'cancelled'],
      ['deaf@1', 'cancelled'],
    ],
  );
  await rig.pool.drain();
});

test('an input that is read first: whole when the function begins, the run’s failure, or for nobody', async () => {
  const rig = new Rig();
  const whole = Promise.withResolvers<string>();
  rig.inputs.set('1', whole.promise);
  rig.inputs.set('2', Promise.reject(new ColibriError('input-invalid', 'it is gone')));
  rig.inputs.set('3', whole.promise);
  rig.add('reads', (input) => input, { input: '1' });
  rig.add('fails', () => assert.fail('must not begin'), { input: '2' });
  rig.add('stopped', () => assert.fail('must not begin'), { input: '3' });
  await rig.ended(1);
  assert.equal(rig.pool.active, 2);
  rig.pool.abort('stopped@1', 'cancel');
  await rig.ended(2);
  // It has no time of its own before it begins.
  await rig.clock.advance(5000);
  whole.resolve('"all"');
  await rig.ended(3);
  assert.deepEqual(
    rig.outcomes.map(({ run, status, result, retryable }) => [run, status, result, retryable]),
    [
      ['fails@1', 'failed', null, false],
      ['stopped@1', 'cancelled', null, false],
      ['reads@1', 'success', '"all"', false],
    ],
  );
  assert.equal(rig.pool.lateOutcomes, 0);
});

test('an input that cannot be read just now fails no run: it is interrupted, and pays nothing for it', async () => {
  const codes = ['thread-lost', 'ask-timeout', 'mailbox-full', 'mailbox-closed', 'internal'] as const;
  const rig = new Rig();
  for (const code of codes) {
    rig.inputs.set(code, Promise.reject(new ColibriError(code, 'no answer')));
    rig.add(code, () => assert.fail('must not begin'), { input: code });
  }
  rig.inputs.set('bug', Promise.reject(new TypeError('no answer')));
  rig.add('bug', () => assert.fail('must not begin'), { input: 'bug' });
  await rig.ended(codes.length + 1);
  for (const { run, status, error, retryable } of rig.outcomes) {
    assert.deepEqual([status, isExcused(error), retryable], ['interrupted', true, true], run);
    const code = run === 'bug@1' ? 'internal' : run.slice(0, -2);
    assert.deepEqual([error?.cause?.code, error?.cause?.message], [code, 'no answer']);
  }
  assert.equal(rig.pool.active, 0);
});
