/**
 * The user modules that the globs of `handlers:` find. Only names are looked at: a module is imported on the
 * thread it runs on, never here. The walk is bounded in entries and depth, so that a glob over a whole disk
 * ends as a problem and not as a hang; symbolic links to folders are not followed.
 */
import { type Dirent, readdirSync } from 'node:fs';
import { join, matchesGlob, parse } from 'node:path';
import type { GlobSpec } from './split-glob.ts';

const MODULE_FILE = /\.(?:[cm]?js|[cm]?ts)$/;
const DECLARATION = /\.d\.[cm]?ts$/;
const MAX_ENTRIES = 20_000;
const MAX_LEVELS = 12;

export interface FoundModules {
  /** Absolute paths, sorted. */
  readonly files: readonly string[];
  /** False where the bound ended the walk. */
  readonly complete: boolean;
}

/** How the modules of a glob are listed; tests give their own. */
export type ListModules = (glob: GlobSpec) => FoundModules;

export function listModules(glob: GlobSpec): FoundModules {
  const files: string[] = [];
  const deepest = glob.pattern.includes('**') ? MAX_LEVELS : glob.pattern.split('/').length;
  const queue: { path: string; relative: string; level: number }[] = [
    { path: glob.root, relative: '', level: 1 },
  ];
  let entries = 0;
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    for (const entry of readFolder(next.path)) {
      entries += 1;
      if (entries > MAX_ENTRIES) return { files: files.sort(), complete: false };
      const relative = next.relative === '' ? entry.name : `${next.relative}/${entry.name}`;
      if (entry.isDirectory()) {
        if (next.level >= deepest || entry.name === 'node_modules' || entry.name.startsWith('.')) continue;
        queue.push({ path: join(next.path, entry.name), relative, level: next.level + 1 });
      } else if (isModule(entry.name) && matchesGlob(relative, glob.pattern)) {
        files.push(join(next.path, entry.name));
      }
    }
  }
  return { files: files.sort(), complete: true };
}

/** The name that tasks use for a module. */
export function moduleName(file: string): string {
  return parse(file).name;
}

function isModule(name: string): boolean {
  return MODULE_FILE.test(name) && !DECLARATION.test(name);
}

/** A folder that is not there or cannot be read has no modules; the caller says that the glob found none. */
function readFolder(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    return [];
  }
}
