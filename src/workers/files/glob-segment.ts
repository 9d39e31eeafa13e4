/**
 * One segment of a glob, the part between two slashes, against one name: `*`, `?`, `[...]`, `\x`.
 *
 * Matching takes at most (length of name × length of segment) steps: only the last `*` is ever gone back to,
 * because an earlier one can gain nothing. A name from a stranger cannot make it slow.
 */

type Token =
  | { readonly kind: 'literal'; readonly code: number }
  | { readonly kind: 'any' }
  | { readonly kind: 'star' }
  | {
      readonly kind: 'class';
      readonly negated: boolean;
      readonly ranges: readonly (readonly [number, number])[];
    };

export type SegmentMatcher = (name: string) => boolean;

/** A matcher of whole names. A leading dot is only matched by a dot written there. */
export function compileSegment(segment: string): SegmentMatcher {
  const tokens = tokenize(segment);
  const first = tokens[0];
  const takesDot = first?.kind === 'literal' && first.code === 0x2e;
  if (tokens.every((token) => token.kind === 'literal')) {
    const literal = String.fromCodePoint(...tokens.map((token) => (token as { code: number }).code));
    return (name) => name === literal;
  }
  if (tokens.length === 1 && first?.kind === 'star') return (name) => !name.startsWith('.');
  return (name) => (takesDot || !name.startsWith('.')) && matchTokens(tokens, name);
}

function matchTokens(tokens: readonly Token[], name: string): boolean {
  let at = 0;
  let token = 0;
  let starToken = -1;
  let starAt = 0;
  while (at < name.length) {
    const code = name.codePointAt(at)!;
    const current = tokens[token];
    if (current?.kind === 'star') {
      starToken = token++;
      starAt = at;
    } else if (current !== undefined && matchesOne(current, code)) {
      token += 1;
      at += code > 0xffff ? 2 : 1;
    } else if (starToken >= 0) {
      starAt += name.codePointAt(starAt)! > 0xffff ? 2 : 1;
      at = starAt;
      token = starToken + 1;
    } else {
      return false;
    }
  }
  while (tokens[token]?.kind === 'star') token += 1;
  return token === tokens.length;
}

function matchesOne(token: Token, code: number): boolean {
  switch (token.kind) {
    case 'literal':
      return token.code === code;
    case 'any':
      return true;
    case 'star':
      return false;
    case 'class':
      return token.negated !== token.ranges.some(([from, to]) => code >= from && code <= to);
  }
}

function tokenize(segment: string): Token[] {
  const codes = Array.from(segment);
  const tokens: Token[] = [];
  for (let index = 0; index < codes.length; ) {
    const char = codes[index]!;
    const parsed = char === '[' ? parseClass(codes, index) : undefined;
    if (parsed !== undefined) {
      tokens.push(parsed.token);
      index = parsed.next;
      continue;
    }
    if (char === '*') {
      if (tokens.at(-1)?.kind !== 'star') tokens.push({ kind: 'star' });
    } else if (char === '?') {
      tokens.push({ kind: 'any' });
    } else {
      if (char === '\\' && index + 1 < codes.length) index += 1;
      tokens.push({ kind: 'literal', code: codes[index]!.codePointAt(0)! });
    }
    index += 1;
  }
  return tokens;
}

/** Undefined where the bracket is never closed: it is a plain character then, as in a shell. */
function parseClass(codes: readonly string[], open: number): { token: Token; next: number } | undefined {
  let index = open + 1;
  const negated = codes[index] === '!' || codes[index] === '^';
  if (negated) index += 1;
  const start = index;
  const ranges: [number, number][] = [];
  for (;;) {
    if (index >= codes.length) return undefined;
    if (codes[index] === ']' && index > start) break;
    const from = readClassMember(codes, index);
    index = from.next;
    let to = from.code;
    if (codes[index] === '-' && index + 1 < codes.length && codes[index + 1] !== ']') {
      const end = readClassMember(codes, index + 1);
      to = end.code;
      index = end.next;
    }
    ranges.push([from.code, to]);
  }
  return { token: { kind: 'class', negated, ranges }, next: index + 1 };
}

function readClassMember(codes: readonly string[], index: number): { code: number; next: number } {
  const escaped = codes[index] === '\\' && index + 1 < codes.length;
  const at = escaped ? index + 1 : index;
  return { code: codes[at]!.codePointAt(0)!, next: at + 1 };
}
