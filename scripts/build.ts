/**
 * Bundles the sources to CommonJS in `dist/`: `colibri.js` (the command), `index.js` (the library), and the
 * files that threads start from. CommonJS, because an ES-module import of a large built-in loads all of its
 * lazy parts.
 */
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const version = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;
const require = createRequire(import.meta.url);

/** Piscina starts its threads from a file of this name beside the code that holds Piscina. */
const piscinaWorker = join(require.resolve('piscina'), '..', 'worker.js');

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });

const shared = {
  bundle: true,
  platform: 'node',
  target: 'node26',
  format: 'cjs',
  outdir: dist,
  minify: true,
  keepNames: true,
  sourcemap: true,
  legalComments: 'none',
  external: ['@napi-rs/nice', '@opentelemetry/api'],
  define: { 'import.meta.url': '__bundleUrl', COLIBRI_VERSION: JSON.stringify(version) },
  banner: { js: 'const __bundleUrl=require("node:url").pathToFileURL(__filename).href;' },
  logLevel: 'warning',
} satisfies BuildOptions;

await build({
  ...shared,
  entryPoints: {
    main: join(root, 'src/main/cli/bin.ts'),
    index: join(root, 'src/main/index.ts'),
    host: join(root, 'src/workers/threads/host.ts'),
    'cpu-worker': join(root, 'src/workers/threads/cpu-worker.ts'),
    worker: piscinaWorker,
  },
});

// Old syntax on purpose: an older runtime must be able to read the sentence that refuses it.
writeFileSync(
  join(dist, 'colibri.js'),
  `#!/usr/bin/env node
if (Number(process.versions.node.split('.')[0]) < 26) {
  console.error('colibri needs Node 26 or newer, got ' + process.version + '; in a checkout, npm scripts and npx use the pinned one');
  process.exit(2);
}
require('./main.js');
`,
);
chmodSync(join(dist, 'colibri.js'), 0o755);
writeFileSync(join(dist, 'package.json'), '{ "type": "commonjs" }\n');
