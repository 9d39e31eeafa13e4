/**
 * Copies of the sources without their types, for the tests: made once, where each process and each thread would make
 * its own, which is the larger part of a thread's start. Lines and columns stay as they are in the sources.
 */
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { ROOT } from './bundle.ts';

const SOURCES = '{src,test,bench,scripts,configs}/**/*.{ts,cts}';
/** Modules that daemons in a process of their own load, which takes no preload: each with all it imports. */
const HANDLERS = 'test/*/handlers/*.ts';
const PRELOAD = 'scripts/take-stripped.cjs';

/** Empties `folder` and fills it; gives the file that is to be preloaded so that the copies are taken. */
export async function stripTypes(folder: string): Promise<string> {
  rmSync(folder, { recursive: true, force: true });
  const handlers = build({
    absWorkingDir: ROOT,
    entryPoints: globSync(HANDLERS, { cwd: ROOT }),
    bundle: true,
    platform: 'node',
    format: 'esm',
    outdir: folder,
    outbase: ROOT,
    outExtension: { '.js': '.mjs' },
  });
  for (const file of globSync(SOURCES, { cwd: ROOT, exclude: ['**/node_modules/**'] })) {
    const copy = join(folder, file.replace(/\.cts$/, '.cjs'));
    mkdirSync(dirname(copy), { recursive: true });
    writeFileSync(copy, stripTypeScriptTypes(readFileSync(join(ROOT, file), 'utf8')));
  }
  await handlers;
  return join(folder, PRELOAD);
}
