/**
 * A glob compiled so that a walk can be cut short: for each folder it says whether anything below could
 * match, so folders that cannot are never opened.
 *
 * `*`, `?` and `[...]` stay within one name; `**` alone in a segment stands for any number of folders;
 * `{a,b}` for either text, slashes included. Names that begin with a dot are only matched by a segment that
 * begins with one, so `**` passes hidden folders by. A pattern is relative and never leaves its root.
 */
import { ColibriError } from '../../actors/kernel/errors.ts';
import { compileSegment, type SegmentMatcher } from './glob-segment.ts';

/** At most so many patterns come out of the braces of one. */
export const BRACE_LIMIT = 1024;

type Segment = SegmentMatcher | '**';

/** Where a walk stands in a pattern: what may match inside one folder. */
export class GlobState {
  readonly #alternatives: readonly (readonly Segment[])[];

  /** @param alternatives what is left to match, one list of segments each, none empty */
  constructor(alternatives: readonly (readonly Segment[])[]) {
    this.#alternatives = alternatives.flatMap(withoutFolders);
  }

  /** Whether a file of this name, right in this folder, is a match. */
  matchesFile(name: string): boolean {
    return this.#alternatives.some(
      ([head, ...rest]) => head !== undefined && rest.length === 0 && matchesHead(head, name),
    );
  }

  /** The state inside the folder of this name; undefined: nothing in there can match. */
  enter(name: string): GlobState | undefined {
    const inside: (readonly Segment[])[] = [];
    for (const alternative of this.#alternatives) {
      const head = alternative[0]!;
      if (head === '**') {
        if (!name.startsWith('.')) inside.push(alternative);
      } else if (alternative.length > 1 && head(name)) {
        inside.push(alternative.slice(1));
      }
    }
    return inside.length === 0 ? undefined : new GlobState(inside);
  }
}

/** The state at the root of the pattern. Throws `config-invalid`. */
export function compileGlob(pattern: string): GlobState {
  return new GlobState(expandBraces(pattern).map((text) => parseSegments(text, pattern)));
}

/** `**` also stands for no folder at all; at the end it means every file below. */
function withoutFolders(segments: readonly Segment[]): (readonly Segment[])[] {
  if (segments[0] !== '**' || segments.length === 1) return [segments];
  return [segments, ...withoutFolders(segments.slice(1))];
}

function matchesHead(head: Segment, name: string): boolean {
  return head === '**' ? !name.startsWith('.') : head(name);
}

function parseSegments(text: string, pattern: string): Segment[] {
  const segments: Segment[] = [];
  for (const part of text.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..') {
      throw new ColibriError(
        'config-invalid',
        `expected the pattern to stay below its folder, got ".." in ${JSON.stringify(pattern)}`,
      );
    }
    if (part !== '**') segments.push(compileSegment(part));
    else if (segments.at(-1) !== '**') segments.push('**');
  }
  if (segments.length === 0 || text.endsWith('/') || text.includes('\0')) {
    throw new ColibriError(
      'config-invalid',
      `expected a pattern that ends in the name of files, got ${JSON.stringify(pattern)}`,
    );
  }
  return segments;
}

/** Braces without a comma, or never closed, are plain characters. */
function expandBraces(pattern: string): string[] {
  const done: string[] = [];
  const open = [pattern];
  for (let text = open.pop(); text !== undefined; text = open.pop()) {
    const brace = findBrace(text);
    if (brace === undefined) done.push(text);
    else open.push(...brace);
    if (done.length + open.length > BRACE_LIMIT) {
      throw new ColibriError(
        'config-invalid',
        `expected the braces of a pattern to give at most ${BRACE_LIMIT} patterns, got more from ${JSON.stringify(pattern)}`,
      );
    }
  }
  return done;
}

/** The texts that the first pair of braces stands for, the rest of the text around each. */
function findBrace(text: string): string[] | undefined {
  for (let open = 0; open < text.length; open += 1) {
    if (text[open] === '\\') open += 1;
    else if (text[open] === '{') {
      const commas: number[] = [];
      const close = findClose(text, open, commas);
      if (close < 0 || commas.length === 0) continue;
      const edges = [open, ...commas, close];
      return edges
        .slice(1)
        .map(
          (edge, index) => text.slice(0, open) + text.slice(edges[index]! + 1, edge) + text.slice(close + 1),
        );
    }
  }
  return undefined;
}

/** Index of the brace that closes the one at `open`, or -1; fills in the commas right between them. */
function findClose(text: string, open: number, commas: number[]): number {
  let depth = 0;
  for (let index = open; index < text.length; index += 1) {
    const char = text[index];
    if (char === '\\') index += 1;
    else if (char === '{') depth += 1;
    else if (char === ',' && depth === 1) commas.push(index);
    else if (char === '}') {
      depth -= 1;
      if (depth === 0) return index;
    }
  }
  return -1;
}
