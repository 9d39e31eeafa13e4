/** `dist/`: the parts of the daemon with their code caches, the library, the launchers. */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BundledFile, bundle } from './bundle.ts';
import { recordCodeCaches } from './code-cache.ts';
import { nodeLauncher, shellLauncher } from './launchers.ts';
import { RUNTIME_FLAGS } from './runtime-flags.ts';

/** Empties `dist` and builds all of it anew. */
export async function buildDist(dist: string): Promise<BundledFile[]> {
  const files = await bundle(dist);
  const launchers = {
    'colibri.sh': shellLauncher(RUNTIME_FLAGS),
    'colibri.js': nodeLauncher(RUNTIME_FLAGS),
  };
  for (const [name, text] of Object.entries(launchers)) {
    writeFileSync(join(dist, name), text);
    chmodSync(join(dist, name), 0o755);
  }
  try {
    await recordCodeCaches(dist);
  } catch (error) {
    // All works without, only the start takes longer.
    console.error(`no code caches: ${error instanceof Error ? error.message : error}`);
  }
  return files;
}
