/** Large results, which lie in files, as the program that has the runtime in it reads them. */
import { ColibriError } from '../../actors/kernel/index.ts';
import { isReference, KEEP_MORE } from '../../actors/results/result-reference.ts';

/**
 * The value of a result: of a large one what its file has, of any other the result itself. Rejects with `result-forgotten` where
 * the run has none any more, and with `file-failed` where the file is gone, for it goes with its result, by the bounds of
 * `retention`, or where somebody else has written into it.
 */
export async function readResult<Result>(result: Result): Promise<Exclude<Result, undefined>> {
  if (result === undefined) {
    throw new ColibriError(
      'result-forgotten',
      `expected the result of a run, got one that is forgotten; ${KEEP_MORE}`,
    );
  }
  if (!isReference(result)) return result as Exclude<Result, undefined>;
  const { readFile } = process.getBuiltinModule('node:fs/promises');
  let text: string;
  try {
    text = await readFile(result.$file, 'utf8');
  } catch (error) {
    const { message } = error as Error;
    throw failed(`expected the file of a result that is kept, got: ${message}; see retention`, error);
  }
  try {
    return JSON.parse(text) as Exclude<Result, undefined>;
  } catch (error) {
    const { message } = error as Error;
    throw failed(
      `expected ${result.$file} to have the JSON text of a result, got: ${message}; it was changed since, run its task again`,
      error,
    );
  }
}

function failed(message: string, cause: unknown): ColibriError {
  return new ColibriError('file-failed', message, { cause });
}
