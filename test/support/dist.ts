/** A `dist/` of a test's own: `npm test` has built one, which is copied. */
import { cpSync } from 'node:fs';
import { resolve } from 'node:path';
import { buildDist } from '../../scripts/build-dist.ts';

/** Gives the folder that it was built in. */
export async function putDist(folder: string): Promise<string> {
  const { TEST_DIST: built } = process.env;
  if (built === undefined) {
    await buildDist(folder);
    return folder;
  }
  cpSync(resolve(built), folder, { recursive: true });
  return resolve(built);
}
