/** Errors are known by what they are and not by which copy of the class made them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ColibriError, fromErrorData, toErrorData, withoutStack } from '../../src/actors/kernel/errors.ts';
import { ConfigInvalid } from '../../src/main/config/index.ts';

/** The class once more, as another part of a built program has it. */
const address = new URL('../../src/actors/kernel/errors.ts?another-copy', import.meta.url).href;
const other = (await import(address)) as typeof import('../../src/actors/kernel/errors.ts');

test('an error of another copy of the class is one of ours, with its code and causes', () => {
  assert.notEqual(other.ColibriError, ColibriError);
  const cause = new other.ColibriError('timeout', 'too long');
  const error = new other.ColibriError('config-invalid', 'no good', { cause });
  assert.ok(error instanceof ColibriError);
  const data = toErrorData(error, 'internal');
  assert.equal(data.code, 'config-invalid');
  assert.equal(data.cause?.code, 'timeout');
  assert.ok(fromErrorData(data) instanceof other.ColibriError);
});

test('a subclass knows its own, and is one of ours in every copy', () => {
  const invalid = new ConfigInvalid([{ file: 'a', line: 1, column: 1, message: 'no good' }]);
  assert.ok(invalid instanceof ConfigInvalid && invalid instanceof other.ColibriError);
  assert.ok(!(new ColibriError('usage', 'wrong') instanceof ConfigInvalid));
});

test('the name and the stack of what was thrown are there again; one without a stack gets none of another place', () => {
  class OrderLost extends Error {
    override readonly name = 'OrderLost';
  }
  const thrown = new OrderLost('gone', { cause: new TypeError('not a function') });
  const data = toErrorData(thrown);
  const [again, cause] = [fromErrorData(data), fromErrorData(data).cause as Error];
  assert.deepEqual([again.name, again.message, again.stack], ['OrderLost', 'gone', thrown.stack]);
  assert.deepEqual([cause.name, cause.stack], ['TypeError', (thrown.cause as Error).stack]);
  assert.deepEqual(toErrorData(again), { ...data, code: 'handler-failed' });
  const kept = withoutStack(data);
  assert.deepEqual(kept, {
    code: 'handler-failed',
    message: 'gone',
    cause: { code: 'handler-failed', message: 'not a function' },
  });
  assert.equal(fromErrorData(kept).stack, 'ColibriError: gone');
  for (const common of [new Error('a'), new ColibriError('timeout', 'a')]) {
    assert.equal(toErrorData(common).name, undefined);
  }
  const long = Object.assign(new Error('a'), { name: 'x'.repeat(10_000) });
  assert.ok(toErrorData(long).name!.length < 200);
});

test('what only looks like one is none', () => {
  const code = 'timeout';
  for (const value of [
    null,
    undefined,
    'timeout',
    { code },
    Object.assign(new Error('no'), { code }),
    () => code,
  ]) {
    assert.ok(!((value as unknown) instanceof ColibriError));
    assert.equal(toErrorData(value, 'internal').code, 'internal');
  }
});

test('a code that nobody knows does not cross a thread', () => {
  const error = Object.assign(new ColibriError('usage', 'wrong'), { code: 'made-up' });
  assert.equal(toErrorData(error, 'internal').code, 'internal');
});
