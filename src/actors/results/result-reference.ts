/**
 * A result that lies in a file, as the run has it: `{ "$file": "/…/results/….json", "$bytes": 1234567 }`. The name of the file
 * says whose it is, so that nobody loses a file to a run that only passes the reference on. Pure.
 */
import { fingerprint64 } from './fingerprint.ts';

/** Results of more bytes of JSON text go to a file. */
export const MESSAGE_RESULT_BYTES = 256 * 1024;
/** The largest of them. */
export const FILE_RESULT_BYTES = 64 * 1024 * 1024;
/** Templates and guards look into files up to this size: with what is made of the text it is in memory for a moment. */
export const READABLE_RESULT_BYTES = 4 * 1024 * 1024;
/** What a template, or `each`, takes out of one: as for an input. */
export const PART_RESULT_CHARACTERS = 256 * 1024;

export interface ResultReference {
  /** Absolute path. */
  readonly $file: string;
  readonly $bytes: number;
}

/** What helps where a result is wanted that is not kept any more. */
export const KEEP_MORE = 'keep more: retention.results, retention.result_ttl_hours';

/** `$file` and `$bytes` are of the reference itself, all else is within its file. */
export const REFERENCE_KEYS: readonly unknown[] = ['$file', '$bytes'];

const NAME_CHARACTERS = 120;
const ENDING = '.json';

/** Of a run with any id: safe on every file system, and never that of another run. `unique`: letters and digits. */
export function resultFileName(run: string, attempt: number, unique: string): string {
  const readable = run.replace(/[^A-Za-z0-9_@-]/g, '_').slice(0, NAME_CHARACTERS);
  return `${readable}-${fingerprint64(run)}-${attempt}-${unique}${ENDING}`;
}

function isNameOf(name: string, run: string): boolean {
  return /^[A-Za-z0-9_@-]+\.json$/.test(name) && name.includes(`-${fingerprint64(run)}-`);
}

export function isReference(value: unknown): value is ResultReference {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { $file, $bytes, ...rest } = value as Partial<ResultReference>;
  return typeof $file === 'string' && typeof $bytes === 'number' && Object.keys(rest).length === 0;
}

/** Of the JSON text of a result; null: it is the result itself. */
export function referenceIn(text: string | null): ResultReference | null {
  if (text === null || !text.startsWith(START) || text.length > MOST_TEXT) return null;
  const value: unknown = JSON.parse(text);
  return isReference(value) ? value : null;
}

/** The file that is kept, and goes, with the result of this run. */
export interface OwnFile {
  readonly name: string;
  readonly bytes: number;
}

/** Null: it has none, or that of another run. */
export function ownFileOf(run: string, result: string | null | undefined): OwnFile | null {
  const reference = referenceIn(result ?? null);
  if (reference === null) return null;
  const name = reference.$file.slice(reference.$file.lastIndexOf('/') + 1);
  return isNameOf(name, run) ? { name, bytes: reference.$bytes } : null;
}

const START = '{"$file":';
/** A path has at most 4096 bytes, each at most six characters. */
const MOST_TEXT = 32 * 1024;
