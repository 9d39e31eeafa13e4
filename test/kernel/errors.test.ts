/** Errors are known by what they are and not by which copy of the class made them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ColibriError, fromErrorData, toErrorData } from '../../src/actors/kernel/errors.ts';
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
