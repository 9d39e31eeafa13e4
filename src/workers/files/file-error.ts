/** A fault of the file system as one of ours, with the path and what was expected of it. */
import { ColibriError } from '../../actors/kernel/errors.ts';

/** `expectation` completes "expected a file that …". What is ours already stays as it is. */
export function fileError(path: string, expectation: string, thrown: unknown): ColibriError {
  if (thrown instanceof ColibriError) return thrown;
  const { code, message } = thrown as NodeJS.ErrnoException;
  return new ColibriError(
    'file-failed',
    `expected ${JSON.stringify(path)} to be a file that ${expectation}, got ${code ?? 'an error'}: ${message}`,
    { cause: thrown },
  );
}
