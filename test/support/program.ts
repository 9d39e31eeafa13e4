/**
 * The daemon as tests start it. `npm test` builds it once, as users have it, and says where; a test that is run alone
 * starts it from sources, which takes five times as long.
 */
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCES = fileURLToPath(new URL('../../src/main/cli/bin.ts', import.meta.url));
const BUILT = process.env.TEST_DIST;

export const RUN: readonly [file: string, ...args: string[]] =
  BUILT === undefined ? [process.execPath, SOURCES, 'run'] : [join(resolve(BUILT), 'colibri.sh'), 'run'];
