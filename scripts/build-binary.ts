/**
 * Builds the single executable: `dist/colibri` for this machine's kind, and one for the other kind beside it. The
 * runtime with the parts of `dist/` inside, its flags, and for this kind the code caches; no file beside it is needed.
 *
 *   node scripts/build-binary.ts [FOLDER] [--only-this-kind] [--as-built]
 *
 * `--as-built`: from what is in the folder already.
 */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { cacheFile } from '../src/workers/threads/parts.ts';
import { buildDist } from './build-dist.ts';
import { PARTS, ROOT } from './bundle.ts';
import { fetchRuntime } from './fetch-runtime.ts';
import { renewFolder } from './renew-folder.ts';
import { RUNTIME_FLAGS } from './runtime-flags.ts';

type Arch = 'x64' | 'arm64';

/** `e_machine` of an ELF header. */
const MACHINES: Readonly<Record<Arch, number>> = { x64: 0x3e, arm64: 0xb7 };
/** Those that may know other kinds of machines come last. */
const STRIPPERS: Readonly<Record<Arch, readonly string[]>> = {
  x64: ['strip', 'x86_64-linux-gnu-strip', 'llvm-strip'],
  arm64: ['strip', 'aarch64-linux-gnu-strip', 'llvm-strip'],
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'only-this-kind': { type: 'boolean', default: false },
    'as-built': { type: 'boolean', default: false },
  },
});
const dist = resolve(positionals[0] ?? join(ROOT, 'dist'));
const here = process.arch as Arch;
const other: Arch = here === 'x64' ? 'arm64' : 'x64';

if (!values['as-built']) await renewFolder(dist, buildDist);
const work = mkdtempSync(join(tmpdir(), 'colibri-binary-'));
try {
  make(here, process.execPath, join(dist, 'colibri'));
  if (!values['only-this-kind']) {
    const runtime = runtimeFor(other);
    if (runtime !== null) make(other, runtime, join(dist, `colibri-${other}`));
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}

function make(arch: Arch, runtime: string, output: string): void {
  const executable = join(work, `node-${arch}`);
  const part = `${output}.part`;
  copyFileSync(runtime, executable);
  // Before the parts are put in: what strip moves about, the runtime would not find again.
  const stripped = strip(arch, executable);
  const caches =
    arch === here
      ? PARTS.map(cacheFile).filter((file) => statSync(join(dist, file), { throwIfNoEntry: false }))
      : [];
  const files = ['parts.js', ...PARTS.map((name) => `${name}.js`), ...caches];
  const main = join(work, 'main.js');
  writeFileSync(main, `${readFileSync(join(dist, 'parts.js'), 'latin1')}\nmodule.exports.runProgram(null)`);
  const config = join(work, 'sea.json');
  writeFileSync(
    config,
    JSON.stringify({
      main,
      executable,
      output: part,
      disableExperimentalSEAWarning: true,
      // A cache of this machine's kind is of no use to another.
      useCodeCache: arch === here,
      execArgv: RUNTIME_FLAGS,
      execArgvExtension: 'none',
      assets: Object.fromEntries(files.map((file) => [file, join(dist, file)])),
    }),
  );
  execFileSync(process.execPath, [...RUNTIME_FLAGS, '--build-sea', config], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  // The one before may be running: it cannot be written to, but it can be replaced.
  renameSync(part, output);
  const machine = machineOf(output);
  if (machine !== MACHINES[arch])
    throw new Error(`expected ${output} to be for ${arch}, got ELF machine ${machine}`);
  const megabytes = Math.round(statSync(output).size / 1e6);
  const notes = [
    `${arch}, ${megabytes} MB`,
    stripped,
    caches.length > 0 ? 'with code caches' : 'without code caches',
  ];
  console.log(`${output}: ${notes.join(', ')}`);
}

/** Takes the symbols off; says what it did. */
function strip(arch: Arch, file: string): string {
  for (const tool of STRIPPERS[arch]) {
    try {
      execFileSync(tool, [file], { stdio: 'ignore' });
      return 'stripped';
    } catch {
      // Not installed, or not for this kind of machine.
    }
  }
  return `not stripped, for want of one of ${STRIPPERS[arch].join(', ')} that knows ${arch}`;
}

/** The runtime of the same version for another kind of machine; null where it cannot be had. */
function runtimeFor(arch: Arch): string | null {
  const name = `node-linux-${arch}`;
  const version = process.versions.node;
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { integrity?: string }>;
  };
  const integrity = packages[`node_modules/${name}`]?.integrity;
  try {
    return fetchRuntime(join(ROOT, 'node_modules', '.cache'), { name, version, integrity });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    console.error(
      `no executable for ${arch}: ${name}@${version} cannot be had from the package registry: ${why}`,
    );
    return null;
  }
}

function machineOf(file: string): number {
  const header = Buffer.alloc(20);
  const handle = openSync(file, 'r');
  readSync(handle, header, 0, header.length, 0);
  closeSync(handle);
  return header.toString('latin1', 0, 4) === '\x7fELF' ? header.readUInt16LE(18) : 0;
}
