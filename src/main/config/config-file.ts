/** Finding the config file and reading its text, with a bound on its size. */
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { MAX_CONFIG_BYTES } from '../config-bytes.ts';

/** Where the config is looked for when none is named. Null when there is none. */
export function findConfigFile(cwd: string): string | null {
  const places = [resolve(cwd, 'colibri.yaml'), '/etc/colibri/config.yaml'];
  return places.find((file) => existsSync(file)) ?? null;
}

/**
 * The state directory that a config means which cannot be loaded: its daemon, if there is one, can still be asked. Looks
 * for the one line, whatever else the file says; the default where there is none. Absolute.
 */
export function stateDirOf(file: string, env: Readonly<Record<string, string | undefined>>): string {
  const read = readConfigFile(file);
  const text = 'text' in read ? read.text : '';
  const [, quoted, plain] = /^state_dir:[ \t]*(?:["']([^"'\n]+)["']|([^\s#"'][^\n#]*))/m.exec(text) ?? [];
  return resolve(dirname(file), env.COLIBRI_STATE_DIR ?? quoted ?? plain?.trim() ?? './state');
}

/** The text of a file, or why it cannot be had. Reads at most one byte more than the bound. */
export function readConfigFile(file: string): { readonly text: string } | { readonly problem: string } {
  let handle: number | undefined;
  try {
    handle = openSync(file, 'r');
    const stat = fstatSync(handle);
    if (stat.isDirectory()) return { problem: 'expected a file, got a folder' };
    if (stat.size > MAX_CONFIG_BYTES) return { problem: tooLong(`${stat.size} bytes`) };
    return decode(readAtMost(handle, stat.isFile() ? stat.size + 1 : MAX_CONFIG_BYTES + 1));
  } catch (error) {
    return { problem: unreadable(error) };
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

/** The place of the problem names the file: the system's message is taken without it. */
export function unreadable(error: unknown): string {
  const cause = error instanceof Error ? error.message : String(error);
  return `expected a file that can be read, got ${cause.replace(/, \w+(?: '.*')?$/s, '')}`;
}

/** The text itself may come from elsewhere; the bound holds for it too. */
export function checkTextSize(text: string): string | null {
  if (text.length <= MAX_CONFIG_BYTES / 4) return null;
  const bytes = text.length > MAX_CONFIG_BYTES ? text.length : Buffer.byteLength(text);
  return bytes > MAX_CONFIG_BYTES ? tooLong(`${bytes} bytes`) : null;
}

/** A file may grow under the reader and a pipe has no size: the bound is on what is read. */
function readAtMost(handle: number, firstRead: number): Buffer {
  const chunks: Buffer[] = [];
  let total = 0;
  while (total <= MAX_CONFIG_BYTES) {
    const chunk = Buffer.allocUnsafe(total === 0 ? firstRead : 65_536);
    const read = readSync(handle, chunk, 0, chunk.length, null);
    if (read === 0) break;
    chunks.push(chunk.subarray(0, read));
    total += read;
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}

function decode(bytes: Buffer): { readonly text: string } | { readonly problem: string } {
  if (bytes.length > MAX_CONFIG_BYTES) return { problem: tooLong(`more than ${MAX_CONFIG_BYTES} bytes`) };
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return { problem: 'expected text in UTF-8, got bytes that are not' };
  }
}

function tooLong(got: string): string {
  return `expected a config of at most ${MAX_CONFIG_BYTES} bytes (1 MiB), got ${got}; is it the right file?`;
}
