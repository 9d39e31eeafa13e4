/** What is asked of a result that lies in a file, answered with no more of it than is needed. Pure. */
import type { SchemaPath } from '../kernel/check-schema.ts';
import { ColibriError } from '../kernel/errors.ts';
import type { Judgement, ResultPart } from '../protocol.ts';
import { type Expectation, measureOf, unmetExpectation } from './expectation.ts';
import { PART_RESULT_CHARACTERS } from './result-reference.ts';
import { describeLack, valueAtPath } from './value-path.ts';

/** Throws `input-invalid` for one that is too large; who asked says of what. */
export function partOf(root: unknown, path: SchemaPath): ResultPart {
  const { value, found } = valueAtPath(root, path);
  if (value === undefined) return { found, got: describeLack(root, path, found) };
  const { length } = JSON.stringify(value);
  if (length <= PART_RESULT_CHARACTERS) return { value, found, got: '' };
  throw new ColibriError(
    'input-invalid',
    `expected at most ${PART_RESULT_CHARACTERS} characters of JSON out of a file, got ${length}; name a smaller part, give lists of ids or paths in place of data, or pass on the whole result, which is a reference to its file`,
  );
}

export function judgement(expectation: Expectation, result: unknown, lastGood: number | null): Judgement {
  return { unmet: unmetExpectation(expectation, result, lastGood), measure: measureOf(expectation, result) };
}
