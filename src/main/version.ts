/** The version of the program: put in by the bundler, read from package.json in a checkout. */
import { readFileSync } from 'node:fs';

declare const COLIBRI_VERSION: string | undefined;

export function programVersion(): string {
  if (typeof COLIBRI_VERSION === 'string') return COLIBRI_VERSION;
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
