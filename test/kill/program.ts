/** The daemon that is killed: built from these sources into a folder of its own, started as an installed one is. */
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { buildDist } from '../../scripts/build-dist.ts';
import { ROOT } from '../../scripts/bundle.ts';
import { RUNTIME_FLAGS } from '../../scripts/runtime-flags.ts';

export interface Program {
  /** `preloads`: files that the runtime loads first, on each thread. */
  command(preloads: readonly string[]): { readonly file: string; readonly args: readonly string[] };
}

/** Takes some seconds. `dir` is made. */
export async function buildProgram(dir: string): Promise<Program> {
  const dist = join(dir, 'dist');
  await buildDist(dist);
  symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
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
