/**
 * Finds the user's handler modules. Listing only: nothing is imported here, because this runs where no
 * user's code may.
 */
import { globSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import type { UserModule } from './registry.ts';

/** More files than this are a wrong pattern, not a set of handlers. */
export const USER_MODULE_LIMIT = 1000;

const EXTENSIONS: ReadonlySet<string> = new Set(['.ts', '.js', '.mts', '.mjs']);

export interface UserModulesFound {
  /** Sorted by name. */
  readonly modules: readonly UserModule[];
  /** What a user should mend, each a sentence that names the files. */
  readonly problems: readonly string[];
}

/** `root` is absolute, `pattern` a glob relative to it. Declaration files and `node_modules` are left out. */
export function findUserModules(
  patterns: readonly { readonly root: string; readonly pattern: string }[],
): UserModulesFound {
  const byName = new Map<string, UserModule>();
  const problems: string[] = [];
  for (const file of listFiles(patterns, problems)) {
    const name = basename(file, extname(file));
    const other = byName.get(name);
    if (other === undefined) byName.set(name, { name, file });
    else problems.push(`expected one module for handler ${name}, got ${other.file} and ${file}; rename one`);
  }
  const modules = [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { modules, problems };
}

function listFiles(
  patterns: readonly { readonly root: string; readonly pattern: string }[],
  problems: string[],
): Set<string> {
  const files = new Set<string>();
  for (const { root, pattern } of patterns) {
    const exclude = (path: string) => basename(path) === 'node_modules';
    for (const path of globSync(pattern, { cwd: root, exclude }).sort()) {
      if (!EXTENSIONS.has(extname(path)) || /\.d\.m?ts$/.test(path)) continue;
      if (files.size >= USER_MODULE_LIMIT) {
        problems.push(
          `expected at most ${USER_MODULE_LIMIT} handler modules, got more with ${join(root, pattern)}`,
        );
        return files;
      }
      files.add(join(root, path));
    }
  }
  return files;
}
