/**
 * The input of a handler that works on one file, checked. `with:` is checked when the config is loaded, but a
 * trigger's payload lies over it, so nothing is taken for granted here.
 */
import { basename, isAbsolute } from 'node:path';
import { ColibriError } from '../../actors/kernel/errors.ts';

export interface FileInput {
  /** Absolute. */
  readonly path: string;
  /** Path below the folder that was searched, with `/`; the base name for a file named by hand. */
  readonly relative: string;
  /** True where a scan found the file, and so it was a regular file and no link. */
  readonly scanned: boolean;
}

/** Throws `input-invalid`. */
export function readFileInput(input: unknown): FileInput {
  const { path, relative, root } = asRecord(input);
  if (typeof path !== 'string' || !isAbsolute(path) || path.includes('\0')) {
    throw invalid('path', 'an absolute path (use `each: { files }`, or a payload with `path`)', path);
  }
  if (relative === undefined) return { path, relative: basename(path), scanned: false };
  if (typeof relative !== 'string' || !staysBelow(relative)) {
    throw invalid('relative', 'a path without "..", below the folder that was searched', relative);
  }
  return { path, relative, scanned: typeof root === 'string' };
}

export function readChoice<Choice extends string>(
  input: unknown,
  key: string,
  choices: readonly Choice[],
): Choice | undefined {
  const value = asRecord(input)[key];
  if (value === undefined) return undefined;
  const choice = choices.find((known) => known === value);
  if (choice === undefined) throw invalid(key, `one of ${choices.join(', ')}`, value);
  return choice;
}

export function readNumber(
  input: unknown,
  key: string,
  range: { readonly min: number; readonly max: number },
): number | undefined {
  const value = asRecord(input)[key];
  if (value === undefined) return undefined;
  if (typeof value !== 'number' || !(value >= range.min && value <= range.max)) {
    throw invalid(key, `a number from ${range.min} to ${range.max}`, value);
  }
  return value;
}

/** An absolute path; the loader of the config has made it so. */
export function readPath(input: unknown, key: string): string | undefined {
  const value = asRecord(input)[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string' || !isAbsolute(value) || value.includes('\0')) {
    throw invalid(key, 'an absolute path', value);
  }
  return value;
}

export function readFlag(input: unknown, key: string): boolean {
  const value = asRecord(input)[key] ?? false;
  if (typeof value !== 'boolean') throw invalid(key, 'true or false', value);
  return value;
}

export function invalid(key: string, expected: string, value: unknown): ColibriError {
  const got = value === undefined ? 'nothing' : (JSON.stringify(value) ?? typeof value).slice(0, 200);
  return new ColibriError('input-invalid', `expected \`${key}\` to be ${expected}, got ${got}`);
}

function asRecord(input: unknown): Readonly<Record<string, unknown>> {
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) {
    return input as Readonly<Record<string, unknown>>;
  }
  throw new ColibriError('input-invalid', `expected the input to be an object, got ${typeof input}`);
}

function staysBelow(relative: string): boolean {
  return (
    relative !== '' &&
    !relative.includes('\0') &&
    relative.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  );
}
