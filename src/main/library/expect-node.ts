/** The runtime that a program runs on is its own choice: one that is too old is told so before anything of it is missed. */
import { ColibriError } from '../../actors/kernel/index.ts';

/** As `engines` in package.json. */
const MIN_MAJOR = 26;

/** Throws `usage`. */
export function expectNode(version: string): void {
  if (Number.parseInt(version, 10) >= MIN_MAJOR) return;
  throw new ColibriError(
    'usage',
    `expected Node ${MIN_MAJOR} or newer, got ${version}; run the program with a newer one`,
  );
}
