/**
 * The daemon and its modules as tests start it. `npm test` builds it once, as users have it, and says where; a test that is run alone
 * starts it from sources, which takes five times as long.
 */
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SOURCES = join(ROOT, 'src/main/cli/bin.ts');
const { TEST_DIST: BUILT, TEST_STRIPPED: STRIPPED } = process.env;

export const RUN: readonly [file: string, ...args: string[]] =
  BUILT === undefined ? [process.execPath, SOURCES, 'run'] : [join(resolve(BUILT), 'colibri.sh'), 'run'];

/** For a runtime that a test starts from sources: takes the copies without types, as the test's own process does. */
export const TAKE_STRIPPED: readonly string[] =
  STRIPPED === undefined ? [] : ['--require', join(resolve(STRIPPED), 'scripts/take-stripped.cjs')];

/** A file of the tests for a process that takes no preload: without types, which take a thread as long as its start. */
export function withoutTypes(file: string): string {
  if (STRIPPED === undefined) return file;
  return join(resolve(STRIPPED), relative(ROOT, file)).replace(/\.(c?)ts$/, (_, c) =>
    c === '' ? '.mjs' : '.cjs',
  );
}
