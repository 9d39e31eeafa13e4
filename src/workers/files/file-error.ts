/** A fault of the file system as one of ours, with the path and what was expected of it. */
import { basename } from 'node:path';
import { ColibriError } from '../../actors/kernel/errors.ts';

/** `expectation` completes "expected a file that …". What is ours already stays as it is. */
export function fileError(path: string, expectation: string, thrown: unknown): ColibriError {
  if (thrown instanceof ColibriError) return thrown;
  const { code, message } = thrown as NodeJS.ErrnoException;
  if (code === 'ENAMETOOLONG') return nameTooLong(path, thrown);
  return new ColibriError(
    'file-failed',
    `expected ${JSON.stringify(path)} to be a file that ${expectation}, got ${code ?? 'an error'}: ${message}`,
    { cause: thrown },
  );
}

/** `file-invalid`: no later attempt finds a shorter name. */
function nameTooLong(path: string, cause: unknown): ColibriError {
  return new ColibriError(
    'file-invalid',
    `expected ${JSON.stringify(path)} to be a name that the file system takes, got one of ${Buffer.byteLength(basename(path))} bytes in a path of ${Buffer.byteLength(path)}; give the source a shorter name or choose a shorter \`to\``,
    { cause },
  );
}
