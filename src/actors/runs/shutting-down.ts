import { ColibriError } from '../kernel/errors.ts';

/** For whoever waits, or comes, when the runs take nothing more. */
export function shuttingDown(): ColibriError {
  return new ColibriError('shutting-down', 'expected a running daemon, got one that is stopping');
}
