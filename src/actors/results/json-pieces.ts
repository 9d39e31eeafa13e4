/**
 * The JSON text of a value in pieces: together they are what `JSON.stringify` gives, and no text of the whole ever stands in
 * memory. The value is JSON data, as `result-text.ts` finds it. Pure.
 */

/** Characters that a piece has before it leaves; one may be longer by a key or a number. */
const PIECE = 32 * 1024;

export function* jsonPieces(value: unknown): Generator<string> {
  const out: Piece = { text: '' };
  yield* write(value, '', out);
  yield out.text;
}

interface Piece {
  text: string;
}

function* write(given: unknown, key: string, out: Piece): Generator<string> {
  const value = plain(given, key);
  if (typeof value === 'string' && value.length > PIECE) yield* writeText(value, out);
  else if (Array.isArray(value)) {
    out.text += '[';
    for (let at = 0; at < value.length; at++) {
      if (at > 0) out.text += ',';
      yield* write(value[at], String(at), out);
    }
    out.text += ']';
  } else if (typeof value === 'object' && value !== null) {
    out.text += '{';
    let first = true;
    for (const [name, inner] of Object.entries(value)) {
      if (inner === undefined || typeof inner === 'function' || typeof inner === 'symbol') continue;
      out.text += `${first ? '' : ','}${JSON.stringify(name)}:`;
      first = false;
      yield* write(inner, name, out);
    }
    out.text += '}';
  } else out.text += JSON.stringify(value) ?? 'null';
  if (out.text.length > PIECE) {
    yield out.text;
    out.text = '';
  }
}

/** What is written in its place: as `toJSON` says, and the primitives of their objects. */
function plain(given: unknown, key: string): unknown {
  const { toJSON } = (given ?? {}) as { toJSON?: unknown };
  const value: unknown = typeof toJSON === 'function' ? toJSON.call(given, key) : given;
  const isBoxed = value instanceof String || value instanceof Number || value instanceof Boolean;
  return isBoxed ? value.valueOf() : value;
}

/** A surrogate pair stays in one piece: each half alone would be escaped. */
function* writeText(text: string, out: Piece): Generator<string> {
  out.text += '"';
  for (let from = 0; from < text.length; ) {
    let to = Math.min(text.length, from + PIECE);
    const last = text.charCodeAt(to - 1);
    if (to < text.length && last >= 0xd800 && last <= 0xdbff) to--;
    yield out.text + JSON.stringify(text.slice(from, to)).slice(1, -1);
    out.text = '';
    from = to;
  }
  out.text += '"';
}
