/** Large results, which lie in files, as the program that has the runtime in it reads them. */
import { ColibriError } from '../../actors/kernel/index.ts';
import { isReference } from '../../actors/results/result-reference.ts';

/**
 * The value of a result: of a large one what its file has, of any other the result itself. Rejects with `file-failed` where the
 * file is gone: it goes with its result, by the bounds of `retention`.
 */
export async function readResult<Result>(result: Result): Promise<Result> {
  if (!isReference(result)) return result;
  const { readFile } = process.getBuiltinModule('node:fs/promises');
  try {
    return JSON.parse(await readFile(result.$file, 'utf8')) as Result;
  } catch (error) {
    const { message } = error as Error;
    throw new ColibriError(
      'file-failed',
      `expected the file of a result that is kept, got: ${message}; see retention`,
      { cause: error },
    );
  }
}
