/** docs/errors.md against the tables it is written from: codes, meanings, retries, exit codes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ColibriError, ERROR_CODES, type ErrorCode } from '../../src/actors/kernel/errors.ts';
import { EXIT_MEANINGS, exitCodeOf } from '../../src/main/cli/exit-codes.ts';
import { failed } from '../../src/workers/outcomes.ts';
import { plain, readDocument, rowsBelow } from './markdown.ts';

const text = readDocument('docs/errors.md');
const rows = rowsBelow(text, 'Errors');
const codes = Object.keys(ERROR_CODES) as ErrorCode[];

test('every error code is there, and no unknown one', () => {
  assert.deepEqual(rows.map(([code = '']) => plain(code)).toSorted(), codes.toSorted());
});

test('each code has the meaning of the table, a place, a remedy, and its exit code', () => {
  for (const [cell = '', meaning, where = '', remedy = '', retried = '', exit = ''] of rows) {
    const code = plain(cell) as ErrorCode;
    assert.equal(meaning, ERROR_CODES[code], code);
    assert.ok(where.length > 2 && remedy.length > 2, code);
    assert.equal(Number(exit), exitCodeOf(code), code);
    if (retried === '-') continue;
    const outcome = failed({ run: 'task@1', attempt: 1 }, new ColibriError(code, ''), 0);
    assert.equal(retried, outcome.retryable ? 'yes' : 'no', code);
  }
});

test('the exit codes are those of the command line', () => {
  const listed = rowsBelow(text, 'Exit codes').map(([code, meaning]) => [Number(code), meaning]);
  assert.deepEqual(listed, EXIT_MEANINGS);
});
