/** Builds `dist/`, which may be in use meanwhile; with `--sizes` it prints what each file is made of: `node scripts/build.ts [FOLDER] [--sizes]`. */
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildDist } from './build-dist.ts';
import { type BundledFile, ROOT } from './bundle.ts';
import { emitTypes } from './emit-types.ts';
import { renewFolder } from './renew-folder.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { sizes: { type: 'boolean', default: false } },
});
const dist = resolve(positionals[0] ?? join(ROOT, 'dist'));
const files = await renewFolder(dist, async (fresh) => {
  const bundled = await buildDist(fresh);
  emitTypes(join(fresh, 'types'));
  return bundled;
});
if (values.sizes) for (const file of files) console.log(sizes(file));

function sizes({ name, bytes, contents }: BundledFile): string {
  const rows = contents.map(([from, size]) => `${String(size).padStart(10)}  ${from}`);
  return [`${String(bytes).padStart(8)}  ${name}`, ...rows].join('\n');
}
