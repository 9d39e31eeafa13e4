/**
 * Where the files are that threads start from: beside this one in the sources, beside the bundle in `dist/`.
 * The only place that asks where the code lies.
 */
import { fileURLToPath } from 'node:url';

export type ThreadFile = 'host' | 'cpu-worker';

export function threadFile(name: ThreadFile): string {
  const here = import.meta.url;
  return fileURLToPath(new URL(`./${name}${here.endsWith('.ts') ? '.ts' : '.js'}`, here));
}
