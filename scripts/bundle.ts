/**
 * Bundles the sources to CommonJS. CommonJS, because an ES-module import of a large built-in loads all of its lazy
 * parts.
 *
 *   colibri.sh, colibri.js ─▶ parts.js ─▶ main ─▶ config, forgotten once the config is there
 *                                          ├────▶ flows, where there are any
 *                                          └────▶ daemon ─▶ host         (service, guest)
 *                                                      └──▶ cpu-worker   (cpu threads, with Piscina's worker)
 *   index.js: the library, in one file with all but what its threads start from
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { PART_HEAD, PART_TAIL } from '../src/workers/threads/parts.ts';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));
export const VERSION = (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string })
  .version;

/** What is loaded by name, from a folder or from within the executable. */
export const PARTS = ['main', 'config', 'daemon', 'flows', 'host', 'cpu-worker'] as const;
export type PartName = (typeof PARTS)[number];

export interface BundledFile {
  readonly name: string;
  readonly bytes: number;
  /** What it is made of, by package or folder of the sources, largest first. Bytes after minifying. */
  readonly contents: readonly (readonly [from: string, bytes: number])[];
}

const source = (file: string) => join(ROOT, 'src', file);
const PARTS_FILE = source('workers/threads/parts.ts');
const piscina = dirname(createRequire(import.meta.url).resolve('piscina'));

/** `import()` of these files becomes a load of the part. */
const IMPORTED_PARTS: Readonly<Record<string, PartName>> = {
  [source('main/config-part.ts')]: 'config',
  [source('main/run-daemon.ts')]: 'daemon',
  [source('main/flows-part.ts')]: 'flows',
};

/** What packages load and nothing here calls. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  // cron-parser keeps a date of it beside the fields that it parses. The real one asks the runtime for the machine's
  // language: 1.6 MB and a tenth of the start.
  luxon: 'exports.DateTime={fromJSDate:(date,{zone})=>({isValid:true,zoneName:zone})};',
  // Log lines leave through a device of ours.
  // Two of its functions, for two packages: what explains a failure is another 90 kB a thread.
  assert:
    'const assert=module.exports=(ok)=>{if(!ok)throw new Error("expected a condition of the package to hold")};' +
    'assert.notStrictEqual=(a,b)=>assert(a!==b);',
  transport: 'module.exports=()=>{throw new Error("expected a stream")};',
};

/** Both sides of a cpu thread in one part: Piscina's, and what it calls. */
const CPU_WORKER = `
import ${JSON.stringify(join(piscina, 'worker.js'))};
export { runBatch } from './workers/threads/cpu-worker.ts';
`;

const shared = {
  bundle: true,
  platform: 'node',
  target: 'node26',
  format: 'cjs',
  minify: true,
  sourcemap: true,
  legalComments: 'none',
  metafile: true,
  define: { COLIBRI_VERSION: JSON.stringify(VERSION), 'import.meta.url': 'undefined' },
  // Optional to the packages that ask for them, and not installed.
  external: ['@napi-rs/nice', '@opentelemetry/api'],
  logLevel: 'warning',
} satisfies BuildOptions;

/** Empties `folder` and writes the bundle into it: parts, library, maps. */
export async function bundle(folder: string): Promise<BundledFile[]> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }\n');
  const part = (name: PartName, options: BuildOptions): BuildOptions => ({
    ...shared,
    outfile: join(folder, `${name}.js`),
    // Piscina looks beside itself for its worker, which it is not given; see piscina-thread.ts.
    define: { ...shared.define, __dirname: '""' },
    banner: { js: PART_HEAD },
    footer: { js: PART_TAIL },
    // Parts import nothing of a user's by themselves: what is left of `import()` in them are other parts.
    supported: { 'dynamic-import': false },
    plugins: [otherParts, threadParts, leftOut],
    ...options,
  });
  const builds: BuildOptions[] = [
    part('main', { entryPoints: [source('main/cli/bin.ts')] }),
    part('config', { entryPoints: [source('main/config-part.ts')] }),
    part('daemon', { entryPoints: [source('main/run-daemon.ts')] }),
    part('flows', { entryPoints: [source('main/flows-part.ts')] }),
    part('host', { entryPoints: [source('workers/threads/host.ts')] }),
    part('cpu-worker', {
      stdin: { contents: CPU_WORKER, resolveDir: source(''), sourcefile: 'cpu-worker.ts', loader: 'ts' },
    }),
    {
      ...shared,
      entryPoints: [source('main/program.ts')],
      outfile: join(folder, 'parts.js'),
      sourcemap: false,
    },
    {
      ...shared,
      entryPoints: [source('main/index.ts')],
      outfile: join(folder, 'index.js'),
      // Node shows the line from which an error escaped, and names its class.
      minify: false,
      minifyWhitespace: true,
      lineLimit: 120,
      plugins: [partsBesideTheLibrary, threadParts, leftOut],
    },
  ];
  const files = await Promise.all(builds.map(async (options) => described((await build(options)).metafile!)));
  for (const { name } of files) refuseWideText(join(folder, name));
  return files;
}

const otherParts: Plugin = {
  name: 'other parts',
  setup({ onResolve }) {
    onResolve({ filter: /^\..*\.ts$/ }, ({ kind, path, resolveDir }) => {
      const name = IMPORTED_PARTS[join(resolveDir, path)];
      return kind === 'dynamic-import' && name !== undefined
        ? { path: `colibri:${name}`, external: true }
        : undefined;
    });
    onResolve({ filter: /^colibri:/ }, ({ path }) => ({ path, external: true }));
  },
};

/** Threads start from parts: ours, and those of Piscina. */
const threadParts: Plugin = {
  name: 'thread parts',
  setup({ onResolve }) {
    onResolve({ filter: /\/thread-files\.ts$/ }, () => ({ path: source('workers/threads/thread-parts.ts') }));
    onResolve({ filter: /^node:worker_threads$/ }, ({ importer }) =>
      importer === join(piscina, 'worker_pool/index.js')
        ? { path: source('workers/threads/piscina-thread.ts') }
        : undefined,
    );
  },
};

/** The library is a file of its own, which asks the folder it lies in for the parts that its threads start from. */
const partsBesideTheLibrary: Plugin = {
  name: 'parts beside the library',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^colibri:parts$/ }, ({ path }) => ({ path, namespace: 'parts' }));
    onLoad({ filter: /.*/, namespace: 'parts' }, () => ({
      contents: `module.exports=require(${JSON.stringify(PARTS_FILE)}).createParts(__dirname)`,
      resolveDir: ROOT,
    }));
  },
};

const leftOut: Plugin = {
  name: 'left out',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^luxon$|^(node:)?assert$|\btransport$/ }, ({ importer, path }) => {
      const name = path.split(/[/:]/).pop()!;
      return importer.includes('node_modules') ? { path: name, namespace: 'left-out' } : undefined;
    });
    onLoad({ filter: /.*/, namespace: 'left-out' }, ({ path }) => ({ contents: LEFT_OUT[path]! }));
  },
};

/** One character that is not Latin-1 would make V8 keep a part as two bytes a character; the loader counts on ASCII. */
function refuseWideText(file: string): void {
  const wide = readFileSync(file).findIndex((byte) => byte > 127);
  if (wide !== -1) throw new Error(`expected ${file} to be ASCII, got another character at byte ${wide}`);
}

function described({ outputs }: Metafile): BundledFile {
  const [path, { bytes, inputs }] = Object.entries(outputs).find(([file]) => !file.endsWith('.map'))!;
  const contents = new Map<string, number>();
  for (const [input, { bytesInOutput }] of Object.entries(inputs)) {
    const from = originOf(input);
    contents.set(from, (contents.get(from) ?? 0) + bytesInOutput);
  }
  return { name: path.split('/').pop()!, bytes, contents: [...contents].sort((a, b) => b[1] - a[1]) };
}

/** `…/node_modules/yaml/dist/…` → `yaml`, `src/actors/runs/…` → `actors/runs`. */
export function originOf(input: string): string {
  const [, inPackage] = input.split('node_modules/');
  if (inPackage !== undefined) return inPackage.split('/')[0]!;
  const [, inSources] = input.split('src/');
  return inSources?.split('/').slice(0, 2).join('/') ?? input;
}
