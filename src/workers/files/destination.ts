/** Where an output goes: below one folder, whatever the names and links on the way say. */
import { mkdirSync, realpathSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { ColibriError } from '../../actors/kernel/errors.ts';
import { fileError } from './file-error.ts';

/**
 * Absolute path of `relative` below `folder`; the folders on the way are made. Throws `file-failed` where a
 * link on the way leads out of `folder`, before anything is made there.
 */
export function placeBelow(folder: string, relative: string): string {
  const path = resolve(folder, relative);
  try {
    mkdirSync(folder, { recursive: true });
    const root = realpathSync.native(folder);
    const parent = dirname(path);
    assertBelow(root, nearestReal(parent), path);
    mkdirSync(parent, { recursive: true });
    assertBelow(root, realpathSync.native(parent), path);
  } catch (thrown) {
    throw fileError(path, 'can be made', thrown);
  }
  return path;
}

/** True where `path` is `folder` or below it, by name alone. */
export function isBelow(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** The real path of the deepest folder on the way that is there. */
function nearestReal(folder: string): string {
  for (let at = folder; ; at = join(at, '..')) {
    try {
      return realpathSync.native(at);
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') throw thrown;
    }
  }
}

function assertBelow(root: string, real: string, path: string): void {
  if (isBelow(root, real)) return;
  throw new ColibriError(
    'file-failed',
    `expected ${JSON.stringify(path)} to lie below ${JSON.stringify(root)}, got a link to ${JSON.stringify(real)} on the way`,
  );
}
