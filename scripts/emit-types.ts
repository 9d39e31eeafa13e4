/** The declarations of the library: of all files, those that its face leads to. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from './bundle.ts';

const FACE = 'main/index.d.ts';
const IMPORT = /(?:from|import\()\s*['"](\.[^'"]+)\.ts['"]/g;

/** Writes them below `folder`; its `main/index.d.ts` is the face. */
export function emitTypes(folder: string): void {
  const made = mkdtempSync(join(tmpdir(), 'colibri-types-'));
  try {
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const args = [tsc, '-p', join(ROOT, 'scripts/types.tsconfig.json'), '--outDir', made];
    execFileSync(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
    rmSync(folder, { recursive: true, force: true });
    for (const file of reachable(made, FACE)) cpSync(join(made, file), join(folder, file));
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

function reachable(root: string, face: string): ReadonlySet<string> {
  const found = new Set([face]);
  for (const file of found) {
    for (const [, path] of readFileSync(join(root, file), 'utf8').matchAll(IMPORT)) {
      found.add(join(dirname(file), `${path}.d.ts`));
    }
  }
  return found;
}
