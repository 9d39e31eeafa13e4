/** The library as tests use it: built, where there is a build, else from sources, whose threads take longer to start. */
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

type Library = typeof import('../../src/main/index.ts');

const built = process.env.TEST_DIST;

export const library: Library =
  built === undefined
    ? await import('../../src/main/index.ts')
    : (createRequire(import.meta.url)(join(resolve(built), 'index.js')) as Library);
