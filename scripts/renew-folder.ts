/**
 * Gives a folder new content while it is in use: all is made beside it first, then takes its place file by file, each at once.
 * At no time is a file missing that was there before and is there after; who has an old one open keeps it.
 */
import { existsSync, mkdirSync, readdirSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Made by another build than the one at hand: they stay as they are where this one does not make them anew. */
const OTHERS = /^(?:types|colibri(?:-\w+)?)$/;

export async function renewFolder<T>(folder: string, make: (fresh: string) => Promise<T>): Promise<T> {
  // Through a link, so that what is made beside it is on the same file system and as deep: source maps are relative.
  const place = existsSync(folder) ? realpathSync(folder) : folder;
  const fresh = `${place}.new`;
  rmSync(fresh, { recursive: true, force: true });
  try {
    const made = await make(fresh);
    takePlace(fresh, place, OTHERS);
    return made;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function takePlace(fresh: string, place: string, stays: RegExp | null): void {
  mkdirSync(place, { recursive: true });
  const entries = readdirSync(fresh, { withFileTypes: true });
  // Without a code cache a part only starts slower, and with that of another build it may not be the same program.
  const isCache = (name: string) => name.endsWith('.cache');
  for (const name of readdirSync(place)) if (isCache(name)) rmSync(join(place, name));
  entries.sort((a, b) => Number(isCache(a.name)) - Number(isCache(b.name)));
  for (const entry of entries) {
    const [from, to] = [join(fresh, entry.name), join(place, entry.name)];
    if (entry.isDirectory()) takePlace(from, to, null);
    else renameSync(from, to);
  }
  const names = new Set(entries.map(({ name }) => name));
  for (const name of readdirSync(place)) {
    if (!names.has(name) && stays?.test(name) !== true) rmSync(join(place, name), { recursive: true });
  }
}
