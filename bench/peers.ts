/** Peers from npm: a package of their own, installed on demand and never by the project's `npm ci`. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

const folder = fileURLToPath(new URL('./peers/', import.meta.url));

/** The module of a peer, installed first if need be; null, with a word on it, where it cannot be had. */
export async function loadPeer(name: string): Promise<unknown> {
  if (!existsSync(`${folder}node_modules/${name}`)) {
    console.log(`  (installing the peers of ${folder}package.json)`);
    spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'ignore' });
  }
  try {
    const file = createRequire(`${folder}package.json`).resolve(name);
    return await import(pathToFileURL(file).href);
  } catch {
    console.log(`  (without ${name}: it could not be installed)`);
    return null;
  }
}
