/** Globs as the daemon uses them: an absolute folder to walk, and a pattern relative to it. Pure. */
import { resolve } from 'node:path';

export interface GlobSpec {
  /** Absolute folder before the first wildcard. */
  readonly root: string;
  /** The rest, relative to `root`, with `/`. */
  readonly pattern: string;
}

const WILDCARD = /[*?[{\\]|[@+!]\(/;

/**
 * Splits a glob written relative to `directory`. Whatever matches lies below `root`: a `..` after the first
 * wildcard would lead out of it and is refused.
 */
export function splitGlob(glob: string, directory: string): GlobSpec | { readonly problem: string } {
  const absolute = glob.startsWith('/');
  const segments = glob.split('/').filter((segment) => segment !== '' && segment !== '.');
  if (segments.length === 0 || glob.includes('\0'))
    return { problem: 'a pattern of files such as ./inbox/**/*' };
  if (glob.endsWith('/') || segments.at(-1) === '..') {
    return { problem: `a pattern of files such as ${segments.join('/')}/**/*` };
  }
  let first = segments.findIndex((segment) => WILDCARD.test(segment));
  if (first < 0) first = segments.length - 1;
  const fixed = segments.slice(0, first);
  const rest = segments.slice(first);
  if (rest.some(climbs)) return { problem: 'a pattern that does not climb with ".." after a wildcard' };
  return { root: resolve(absolute ? '/' : directory, fixed.join('/')), pattern: rest.join('/') };
}

/** `..` may also hide in the alternatives of braces and groups. */
function climbs(segment: string): boolean {
  return /(?:^|[{,(|])\.\.(?:$|[},)|])/.test(segment);
}
