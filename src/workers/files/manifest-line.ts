/**
 * A line of a manifest as the coreutils write and read it: `HEX  NAME`. A name with a backslash, a newline or
 * a carriage return has them written as `\\`, `\n` and `\r`, and the line then begins with a backslash.
 */
import { realpathSync } from 'node:fs';
import { dirname, relative, sep } from 'node:path';

export interface ManifestLine {
  /** The whole line with its newline. */
  readonly line: Buffer;
  /** Two spaces, the name as written, a newline: what all lines for the same file have in common. */
  readonly key: Buffer;
}

export function manifestLine(manifestPath: string, path: string, hex: string): ManifestLine {
  const name = nameFromManifest(manifestPath, path);
  const escaped = name.replace(/[\\\n\r]/g, (char) =>
    char === '\n' ? '\\n' : char === '\r' ? '\\r' : '\\\\',
  );
  const mark = escaped === name ? '' : '\\';
  return { line: Buffer.from(`${mark}${hex}  ${escaped}\n`), key: Buffer.from(`  ${escaped}\n`) };
}

/** The name under which the file is found from the folder of the manifest. */
function nameFromManifest(manifestPath: string, path: string): string {
  const folder = dirname(manifestPath);
  const direct = relative(folder, path);
  // A lone "-" is the standard input to the tools.
  if (direct === '-') return './-';
  if (direct !== '..' && !direct.startsWith(`..${sep}`)) return direct;
  // `..` is taken from where the folder really is, not from the link that led there.
  return relative(realpathSync(folder), path);
}
