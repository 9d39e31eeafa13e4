/**
 * The result of a handler as JSON text, or why it cannot be one.
 *
 * `JSON.stringify` alone drops functions and symbols in silence, turns NaN into `null` and a Map or a promise
 * that was not awaited into `{}`, and builds a text of any size before one can look at it. So the value is walked first:
 * what would be lost is named with its place, and a result above the limit is refused before its text
 * exists.
 */
import { ColibriError } from '../actors/kernel/errors.ts';
import { lostKind } from '../actors/kernel/lost-kind.ts';
import { FILE_RESULT_BYTES, MESSAGE_RESULT_BYTES } from '../actors/results/result-reference.ts';

/** The longest result that travels with its run, in bytes of JSON text; longer ones go to a file where there may be any. */
export const RESULT_LIMIT_BYTES = MESSAGE_RESULT_BYTES;

const DEPTH_LIMIT = 500;

/** JSON text of `value`; `undefined` becomes `null`. Throws `result-not-json`, also for what getters throw. */
export function resultText(value: unknown): string {
  return checkedText(value, RESULT_LIMIT_BYTES) ?? 'null';
}

/** As `resultText`. Null: the text is too long to travel, and `value` belongs into a file. */
export function messageText(value: unknown): string | null {
  return checkedText(value, FILE_RESULT_BYTES);
}

/** Null: above what travels, and not above `limit`. */
function checkedText(value: unknown, limit: number): string | null {
  if (value === undefined || value === null) return 'null';
  try {
    if (typeof value === 'object' || typeof value === 'string') {
      const walk = new Walk(limit);
      walk.visit(value, 'result', 0);
      if (walk.length > RESULT_LIMIT_BYTES) return null;
    } else refuseScalar(value, 'result');
    const text = JSON.stringify(value) ?? 'null';
    if (text.length * 3 <= RESULT_LIMIT_BYTES) return text;
    const bytes = Buffer.byteLength(text);
    if (bytes <= RESULT_LIMIT_BYTES) return text;
    if (bytes <= limit) return null;
    throw tooLong(limit, `${bytes} bytes`);
  } catch (thrown) {
    if (thrown instanceof ColibriError && thrown.code === 'result-not-json') throw thrown;
    throw new ColibriError('result-not-json', 'expected a result that can be written as JSON', {
      cause: thrown,
    });
  }
}

class Walk {
  readonly #ancestors: object[] = [];
  readonly #limit: number;
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** A lower bound of the length of the text so far. */
  get length(): number {
    return this.#length;
  }

  visit(value: unknown, at: string, depth: number): void {
    const lost = typeof value === 'object' && value !== null ? lostKind(value) : null;
    if (typeof value === 'string') {
      this.#add(value.length + 2);
    } else if (typeof value !== 'object' || value === null) {
      refuseScalar(value, at);
      this.#add(1);
    } else if (ArrayBuffer.isView(value)) {
      this.#add(value.byteLength * 2);
    } else if (lost !== null) {
      throw notJson(at, lost);
    } else if (typeof (value as { toJSON?: unknown }).toJSON === 'function') {
      this.#add(2);
    } else {
      this.#enter(value, at, depth);
    }
  }

  #enter(value: object, at: string, depth: number): void {
    if (this.#ancestors.includes(value)) {
      throw notJson(at, 'a reference back to an object that holds it (a cycle)');
    }
    if (depth >= DEPTH_LIMIT) throw notJson(at, `an object nested deeper than ${DEPTH_LIMIT} levels`);
    // Within a result, as `Promise.allSettled` gives it, it does no harm.
    if (depth === 0 && value instanceof Error)
      throw notJson(at, 'an Error, which JSON writes as {}; throw it instead');
    this.#ancestors.push(value);
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) {
        this.#add(1);
        this.visit(value[i], `${at}[${i}]`, depth + 1);
      }
    } else {
      for (const key of Object.keys(value)) {
        this.#add(key.length + 4);
        this.visit((value as Record<string, unknown>)[key], `${at}.${key}`, depth + 1);
      }
    }
    this.#ancestors.pop();
  }

  #add(length: number): void {
    this.#length += length;
    if (this.#length > this.#limit) throw tooLong(this.#limit, `more than ${this.#limit} bytes`);
  }
}

function refuseScalar(value: unknown, at: string): void {
  switch (typeof value) {
    case 'function':
      throw notJson(at, 'a function');
    case 'symbol':
      throw notJson(at, 'a symbol');
    case 'bigint':
      throw notJson(at, 'a BigInt; turn it into a string or number');
    case 'number':
      if (Number.isFinite(value)) return;
      throw notJson(at, `${value}, which JSON writes as null; return null or a text instead`);
    default:
  }
}

function notJson(at: string, what: string): ColibriError {
  const place = at.length > 200 ? `${at.slice(0, 200)}…` : at;
  return new ColibriError('result-not-json', `expected ${place} to be JSON data, got ${what}`);
}

function tooLong(limit: number, size: string): ColibriError {
  return new ColibriError(
    'result-not-json',
    `expected a result of at most ${limit} bytes of JSON, got ${size}; write it to a file and return the path`,
  );
}
