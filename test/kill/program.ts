/** The daemon that is killed: built from these sources into a folder of its own, started as an installed one is. */
import { symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildDist } from '../../scripts/build-dist.ts';
import { ROOT } from '../../scripts/bundle.ts';
import { RUNTIME_FLAGS } from '../../scripts/runtime-flags.ts';

export interface Program {
  /** `preloads`: files that the runtime loads first, on each thread. */
  command(preloads: readonly string[]): { readonly file: string; readonly args: readonly string[] };
}

/** Takes some seconds, unless `npm test` has built it already. `dir` is made. */
export async function buildProgram(dir: string): Promise<Program> {
  const { TEST_DIST: built } = process.env;
  const dist = built === undefined ? join(dir, 'dist') : resolve(built);
  if (built === undefined) {
    await buildDist(dist);
    symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
  }
  return {
    command(preloads) {
      if (preloads.length === 0) return { file: join(dist, 'colibri.sh'), args: ['run'] };
      const requires = preloads.flatMap((file) => ['--require', file]);
      return {
        file: process.execPath,
        args: [...RUNTIME_FLAGS, ...requires, join(dist, 'colibri.js'), 'run'],
      };
    },
  };
}
