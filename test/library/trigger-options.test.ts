/** What a trigger may say: an input that arrives as it was given, and a time that the store can keep. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTrigger } from '../../src/actors/runs/message-checks.ts';
import { type TriggerOptions, triggerBody } from '../../src/main/library/trigger-options.ts';

const NOW_MS = Date.UTC(2026, 0, 1);
const TEN_YEARS_MS = 3650 * 86_400_000;

const body = (options: TriggerOptions, input?: unknown) =>
  triggerBody({ ...options, task: 'one', input, nowMs: NOW_MS });

/** A time that is taken is one that the store, and every list of runs, can hold. */
test('a trigger begins within ten years, or is refused with what was given', () => {
  const taken: [TriggerOptions, number | null][] = [
    [{}, null],
    [{ inMs: 0 }, NOW_MS],
    [{ inMs: 0.5 }, NOW_MS + 0.5],
    [{ inMs: TEN_YEARS_MS }, NOW_MS + TEN_YEARS_MS],
    [{ at: 0 }, 0],
    [{ at: new Date(NOW_MS + 5) }, NOW_MS + 5],
    [{ at: '2026-12-24T18:00:00Z' }, Date.UTC(2026, 11, 24, 18)],
  ];
  for (const [options, dueAtMs] of taken) {
    assert.equal(body(options).dueAtMs, dueAtMs, JSON.stringify(options));
    assert.ok(isTrigger(body(options)));
  }
  const far = [Number.MAX_SAFE_INTEGER, 1e17, Number.MAX_VALUE, Number.POSITIVE_INFINITY, Number.NaN];
  const wrong = [TEN_YEARS_MS + 1, ...far, '5', true, 5n, null, {}];
  for (const inMs of [-1, ...wrong]) {
    assert.throws(() => body({ inMs } as never), { code: 'input-invalid', message: /inMs .*ten years/ });
  }
  const past = [-1e17, Number.NEGATIVE_INFINITY];
  for (const at of [...past, ...far, NOW_MS * 1000, true, 5n, null, {}, new Date(Number.NaN)]) {
    assert.throws(() => body({ at } as never), { code: 'input-invalid', message: /at .*ten years/ });
  }
  assert.throws(() => body({ at: '9999-01-01T00:00:00Z' }), /ten years from now.*got "9999-01-01T00:00:00Z"/);
  assert.throws(() => body({ inMs: 1, at: 1 }), /either inMs or at/);
  for (const dueAtMs of [1e17, -1e17, Number.NaN, '5']) {
    assert.equal(isTrigger({ ...body({}), dueAtMs }), false, String(dueAtMs));
  }
});

test('an input arrives as it was given, or is refused with its place', () => {
  const taken = [null, 5, 'x', [1, { a: undefined }], { at: new Date(0), url: new URL('a:b') }];
  for (const input of taken) assert.equal(body({}, input).payload, JSON.stringify(input));
  assert.equal(body({}).payload, null);
  const endless: { inner?: unknown } = {};
  endless.inner = endless;
  const refused: [unknown, string][] = [
    [new URLSearchParams('a=1'), 'input to be a value that JSON can hold, got something to iterate over'],
    [{ by: /x/ }, 'input.by to be a value that JSON can hold, got a RegExp'],
    [{ why: new Error('no') }, 'input.why to be a value that JSON can hold, got an Error'],
    [new Map([[1, 2]]), 'input to be a value that JSON can hold, got a Map or Set'],
    [{ ids: [new Set([1])] }, 'input.ids.0 to be a value that JSON can hold, got a Map or Set'],
    [{ order: Promise.resolve(5) }, 'input.order to be a value that JSON can hold, got a promise; await it'],
    [{ at: new Date(Number.NaN) }, 'input.at to be a value that JSON can hold, got an invalid Date'],
    [{ n: Number.NaN }, 'input.n to be a value that JSON can hold, got NaN'],
    [{ n: 5n }, 'input.n to be a value that JSON can hold, got 5'],
    [{ f() {} }, 'input.f to be a value that JSON can hold, got a function'],
    [endless, 'to be a value that JSON can hold, got more than 64 levels'],
  ];
  for (const [input, message] of refused) {
    assert.throws(
      () => body({}, input),
      (error: Error) => error.message.includes(message) && error.message.length < 250,
      message,
    );
  }
});
