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
  const open = unclosed(rest.join('/'));
  if (open !== null) {
    return { problem: `a pattern whose ${open} is closed (a plain one is written \\${open})` };
  }
  return { root: resolve(absolute ? '/' : directory, fixed.join('/')), pattern: rest.join('/') };
}

/**
 * The bracket or brace that is never closed, or null. A walk would take it for a plain character, which is
 * seldom meant. A bracket ends within its segment, and begins with a `]` that is one of its members.
 */
function unclosed(pattern: string): '[' | '{' | null {
  let depth = 0;
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at];
    if (character === '\\') at++;
    else if (character === '{') depth++;
    else if (character === '}') depth = Math.max(0, depth - 1);
    else if (character === '[') {
      const members = /^\[(?:[!^]|(?![!^]))(?:\\[^/]|[^\\/])(?:\\[^/]|[^\]\\/])*\]/.exec(pattern.slice(at));
      if (members === null) return '[';
      at += members[0].length - 1;
    }
  }
  return depth === 0 ? null : '{';
}

/** `..` may also hide in the alternatives of braces and groups. */
function climbs(segment: string): boolean {
  return /(?:^|[{,(|])\.\.(?:$|[},)|])/.test(segment);
}
