import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Outcome } from '../../src/actors/execution.ts';
import { ColibriError } from '../../src/actors/kernel/errors.ts';
import { ResultFolder } from '../../src/actors/results/result-folder.ts';
import { referenceIn } from '../../src/actors/results/result-reference.ts';
import { ResultRoom } from '../../src/actors/results/result-room.ts';
import type { Handler } from '../../src/workers/handler.ts';
import { abortError } from '../../src/workers/outcomes.ts';
import { RESULT_LIMIT_BYTES } from '../../src/workers/result-text.ts';
import { runHandler } from '../../src/workers/run-handler.ts';
import { tempDir } from '../support/temp-dir.ts';
import { order, testContext } from './io-fixtures.ts';

function run(handle: Handler, input = '{}'): Outcome | Promise<Outcome> {
  const { context } = testContext();
  return runHandler({ handle, order: order('run', { attempt: 2, input }), context, monoMs: () => 5 });
}

const circularError = new Error('round');
circularError.cause = circularError;
const circularObject: Record<string, unknown> = {};
circularObject.self = circularObject;
const hostile = new Proxy(
  {},
  {
    get: () => assert.fail('looked at'),
    getPrototypeOf: () => assert.fail('looked at'),
    ownKeys: () => assert.fail('looked at'),
  },
);

const THROWN: readonly [name: string, value: unknown, message: RegExp][] = [
  ['an error', new Error('broken'), /^broken$/],
  ['an error without a message', new TypeError(), /^TypeError$/],
  ['undefined', undefined, /not an Error.*undefined/],
  ['null', null, /not an Error.*null/],
  ['a string', 'oh', /not an Error.*"oh"/],
  ['a symbol', Symbol('sign'), /Symbol\(sign\)/],
  ['a bigint', 7n, /7/],
  ['a function', () => 1, /not an Error/],
  ['a frozen error', Object.freeze(new Error('cold')), /^cold$/],
  ['a circular error', circularError, /^round$/],
  ['a circular object', circularObject, /\[object Object\]/],
  ['a null-prototype object', Object.create(null), /not an Error/],
  ['a hostile proxy', hostile, /cannot be described/],
  [
    'an object with throwing getters',
    {
      get message() {
        throw new Error('x');
      },
    },
    /object Object/,
  ],
  [
    'an error with a throwing message',
    Object.defineProperty(new Error(), 'message', { get: () => assert.fail('no') }),
    /cannot be described/,
  ],
  ['an error with 1 MB of text', new Error('x'.repeat(1e6)), /more characters cut/],
];

for (const [name, value, message] of THROWN) {
  for (const way of ['thrown', 'rejected'] as const) {
    test(`${name}, ${way}, becomes a failed outcome that is small plain data`, async () => {
      const handle: Handler = () => {
        if (way === 'thrown') throw value;
        return Promise.reject(value);
      };
      const outcome = await run(handle);
      assert.equal(outcome.status, 'failed');
      assert.equal(outcome.error?.code, 'handler-failed');
      assert.match(outcome.error?.message ?? '', message);
      assert.equal(outcome.retryable, true);
      assert.ok(JSON.stringify(outcome).length < 60_000);
    });
  }
}

const deep: unknown[] = [];
for (let level = 0, at = deep; level < 5000; level++) {
  const next: unknown[] = [];
  at.push(next);
  at = next;
}

const NOT_JSON: readonly [name: string, value: unknown, message: RegExp][] = [
  ['a function', () => 1, /expected result to be JSON data, got a function/],
  ['a function inside', { a: { b: [1, () => 1] } }, /result\.a\.b\[1\].*a function/],
  ['a symbol', Symbol('s'), /got a symbol/],
  ['a bigint inside', { size: 10n }, /result\.size.*BigInt/],
  ['a cycle', circularObject, /result\.self.*cycle/],
  ['NaN', Number.NaN, /expected result to be JSON data, got NaN/],
  ['an infinity inside', { rates: [1, -1 / 0] }, /result\.rates\[1\].*-Infinity.*null/],
  ['an invalid Date', { at: new Date(Number.NaN) }, /result\.at.*invalid Date/],
  ['a Map', { m: new Map() }, /result\.m.*Map/],
  ['something to iterate over', { rows: new URLSearchParams('a=1') }, /result\.rows.*iterate over.*array/],
  ['a generator inside', [(function* () {})()], /result\[0\].*an iterator.*array/],
  ['a RegExp', { by: /x/ }, /result\.by.*RegExp/],
  ['a WeakMap', new WeakMap(), /result.*WeakMap/],
  ['a buffer without a view', { data: new ArrayBuffer(4) }, /result\.data.*a buffer.*file/],
  ['a promise that was not awaited', { body: Promise.resolve(1) }, /result\.body.*await/],
  [
    'an async generator',
    (async function* () {})(),
    /got a stream or an async generator, which nobody has read/,
  ],
  ['a generator', (function* () {})(), /got an iterator, which nobody has read; make an array/],
  ['an iterator inside', { keys: new Map().keys() }, /result\.keys.*an iterator/],
  ['an error that was not thrown', new RangeError('no'), /expected result .* got an Error.*throw it/],
  ['a deep nest', deep, /deeper/],
  ['a hostile proxy inside', { inner: hostile }, /written as JSON/],
  ['too long a string', 'x'.repeat(RESULT_LIMIT_BYTES + 1), /at most 262144 bytes.*file/],
  ['too long a text of wide characters', '語'.repeat(RESULT_LIMIT_BYTES / 2), /got 393218 bytes/],
  ['too long a list', Array.from({ length: 200_000 }, () => 1), /at most 262144 bytes/],
  ['a big buffer', new Uint8Array(1 << 20), /at most 262144 bytes/],
  ['what escapes to more', '\u0001'.repeat(100_000), /got 600002 bytes/],
];

for (const [name, value, message] of NOT_JSON) {
  for (const way of ['returned', 'resolved'] as const) {
    test(`${name}, ${way}, fails the run as result-not-json`, async () => {
      const outcome = await run(() => (way === 'returned' ? value : Promise.resolve(value)));
      assert.equal(outcome.status, 'failed');
      assert.equal(outcome.error?.code, 'result-not-json');
      assert.match(outcome.error?.message ?? '', message);
      assert.equal(outcome.retryable, false);
      assert.equal(outcome.result, null);
    });
  }
}

const SHARED = { n: 1 };
const RESULTS: readonly [value: unknown, text: string][] = [
  [undefined, 'null'],
  [null, 'null'],
  [0, '0'],
  [false, 'false'],
  ['', '""'],
  [{ a: undefined, b: [undefined] }, '{"b":[null]}'],
  [new Date(0), '"1970-01-01T00:00:00.000Z"'],
  [{ toJSON: () => 'own' }, '"own"'],
  [[SHARED, SHARED], '[{"n":1},{"n":1}]'],
  [[{ status: 'rejected', reason: new Error('x') }], '[{"status":"rejected","reason":{}}]'],
];

for (const [value, text] of RESULTS) {
  test(`the result ${text} is JSON text, at once for a value and later for a promise`, async () => {
    const now = run(() => value);
    assert.ok(!(now instanceof Promise));
    assert.equal(now.status, 'success');
    assert.equal(now.result, text);
    const later = run(async () => value);
    assert.ok(later instanceof Promise);
    assert.deepEqual(await later, now);
  });
}

function withThen(property: PropertyDescriptor): object {
  return Object.defineProperty({}, 'then', property);
}

test('a thenable is awaited, one that throws in then fails, one that settles twice counts once', async () => {
  const twice = withThen({
    value: (resolve: (value: unknown) => void, reject: (value: unknown) => void) => {
      resolve('first');
      reject('second');
    },
  });
  assert.equal((await run(() => twice as never)).result, '"first"');
  const broken = withThen({ get: () => assert.fail('no then') });
  assert.match((await run(() => broken as never)).error?.message ?? '', /no then/);
});

test('the input is parsed, and text that is no JSON is input-invalid and not retried', async () => {
  const seen: unknown[] = [];
  await run((input) => void seen.push(input), '{"a":[1]}');
  assert.deepEqual(seen, [{ a: [1] }]);
  const outcome = await run(() => assert.fail('ran'), '{');
  assert.equal(outcome.error?.code, 'input-invalid');
  assert.equal(outcome.retryable, false);
});

test('retryable: false on what was thrown is kept, and codes that cannot be mended are not retried', async () => {
  const final = Object.assign(new Error('gone'), { retryable: false });
  assert.equal((await run(() => Promise.reject(final))).retryable, false);
  const invalid = await run(() => {
    throw new ColibriError('input-invalid', 'expected ms');
  });
  assert.equal(invalid.retryable, false);
  assert.equal(invalid.error?.code, 'input-invalid');
});

test('an aborted run is a timeout whatever comes late; a cancel lets finished work count', async () => {
  const ends: readonly [end: () => unknown, cancelled: string][] = [
    [() => 'done', 'success'],
    [() => Promise.reject(new Error('stopped')), 'cancelled'],
  ];
  for (const [end, cancelled] of ends) {
    for (const reason of ['timeout', 'cancel', 'shutdown'] as const) {
      const { context } = testContext();
      const outcome = await runHandler({
        handle: () => {
          context.abort(reason);
          return end();
        },
        order: order('run'),
        context,
        monoMs: () => 0,
      });
      assert.equal(outcome.status, reason === 'timeout' ? 'failed' : cancelled);
      if (outcome.status !== 'success') {
        const { code, message } = abortError(reason);
        assert.deepEqual([outcome.error?.code, outcome.error?.message], [code, message]);
      }
    }
  }
});

test('the duration is taken from the monotonic clock, to the microsecond', () => {
  let mono = 10;
  const { context } = testContext();
  const outcome = runHandler({
    handle: () => {
      mono += 1.23456;
    },
    order: order('run'),
    context,
    monoMs: () => mono,
  });
  assert.equal((outcome as Outcome).durationMs, 1.235);
});

test('where large results may be files, only those above the limit are', async (t) => {
  const room = new ResultRoom(10_000_000);
  const results = new ResultFolder({
    dir: `${tempDir(t)}/results`,
    capacityBytes: room.capacityBytes,
    room: room.memory,
  });
  const runInto = (handle: Handler) => {
    const { context } = testContext();
    return { context, outcome: runHandler({ handle, order: order('r'), context, monoMs: () => 5, results }) };
  };
  const longest = 'x'.repeat(RESULT_LIMIT_BYTES - 2);
  assert.equal((runInto(() => longest).outcome as Outcome).result, JSON.stringify(longest));
  const large = { rows: Array.from({ length: 100_000 }, (_, index) => index) };
  for (const handle of [() => large, async () => large]) {
    const { status, result } = await runInto(handle).outcome;
    assert.equal(status, 'success');
    assert.deepEqual(results.read(referenceIn(result)!.$file), large);
  }
  const used = room.usedBytes;
  assert.ok(used > 2 * RESULT_LIMIT_BYTES);
  for (const [value, message] of [
    [new Uint8Array(40_000_000), /at most 67108864 bytes/],
    [{ a: 'x'.repeat(300_000), b: () => 1 }, /expected result\.b to be JSON data, got a function/],
  ] as const) {
    const { error, retryable } = await runInto(() => value).outcome;
    assert.equal(error?.code, 'result-not-json');
    assert.match(error?.message ?? '', message);
    assert.equal(retryable, false);
  }
  const full = await runInto(() => Array.from({ length: 3 }, () => 'x'.repeat(4_000_000))).outcome;
  assert.deepEqual([full.status, full.error?.code, full.retryable], ['failed', 'file-failed', true]);
  assert.equal(room.usedBytes, used);
  const late = runInto(() => large);
  late.context.abort('timeout');
  const { status, error } = await late.outcome;
  assert.deepEqual([status, error?.code], ['failed', 'timeout']);
  assert.equal(room.usedBytes, used, 'what came too late is deleted');
});
