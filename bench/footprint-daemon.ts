/**
 * The built daemon as a user starts it, in a process of its own: `npm` is the command line behind `npm start` with
 * another config, `binary` the single executable.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ControlClient } from '../src/main/cli/client.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist');
/** By target: what is there once it is built, and what builds it. */
const BUILT = {
  npm: { file: join(DIST, 'colibri.js'), command: 'npm run prepare' },
  binary: { file: join(DIST, 'colibri'), command: 'npm run build:binary' },
} as const;
const READY_LIMIT_MS = 30_000;
const STOP_LIMIT_MS = 30_000;

export const TARGETS = ['npm', 'binary'] as const;
export type Target = (typeof TARGETS)[number];

/** The targets that are wanted and built; says which one is left out. Throws where nothing is left. */
export function builtTargets(wanted: Target | 'both'): readonly Target[] {
  const targets = TARGETS.filter((target) => wanted === 'both' || wanted === target);
  const built = targets.filter((target) => existsSync(BUILT[target].file));
  const missing = targets
    .filter((target) => !built.includes(target))
    .map(
      (target) => `expected ${BUILT[target].file}, got no such file; \`${BUILT[target].command}\` makes it`,
    );
  if (built.length === 0) throw new Error(missing.join('; '));
  for (const text of missing) console.log(`  (${text})`);
  return built;
}

/** Files that a start reads: the runtime and the program. */
export function filesOf(target: Target): readonly string[] {
  if (target === 'binary') return [BUILT.binary.file];
  const programs = globSync('**/*.*', { cwd: DIST }).filter((file) => !file.endsWith('.map'));
  return [process.execPath, ...programs.map((file) => join(DIST, file))];
}

interface ConfigFile {
  readonly file: string;
  readonly text: string;
}

export class BuiltDaemon {
  readonly dir: string;
  readonly socketPath: string;
  /** From before the process was made until its `ready` line was read. */
  readonly startMs: number;
  /** What that line says of it: since exec. */
  readonly ownStartMs: number;
  readonly readyMono: number;
  readonly #child: ChildProcess;
  readonly #config: ConfigFile;
  #control: ControlClient | null = null;

  private constructor(
    child: ChildProcess,
    facts: Pick<BuiltDaemon, 'dir' | 'startMs' | 'ownStartMs' | 'readyMono'> & ConfigFile,
  ) {
    this.#child = child;
    this.#config = facts;
    this.dir = facts.dir;
    this.socketPath = join(facts.dir, 'state', 'control.sock');
    this.startMs = facts.startMs;
    this.ownStartMs = facts.ownStartMs;
    this.readyMono = facts.readyMono;
  }

  /** `config` is in the shape of the YAML file; its state lies in `dir`, which is made. Resolves when it is ready. */
  static async start(
    target: Target,
    dir: string,
    config: Readonly<Record<string, unknown>>,
  ): Promise<BuiltDaemon> {
    mkdirSync(dir, { recursive: true });
    const file = join(dir, 'colibri.yaml');
    // YAML holds JSON.
    const text = JSON.stringify({ state_dir: './state', metrics: { listen: '127.0.0.1:0' }, ...config });
    writeFileSync(file, text);
    const startMono = performance.now();
    const child = spawnTarget(target, file);
    try {
      const line = await readyLine(child);
      const readyMono = performance.now();
      if (line.pid !== child.pid) {
        throw new Error(
          `expected the daemon to be the process that was started (${child.pid}), got ${line.pid}`,
        );
      }
      return new BuiltDaemon(child, {
        dir,
        file,
        text,
        readyMono,
        startMs: readyMono - startMono,
        ownStartMs: line.ready_ms,
      });
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    }
  }

  /** Writes its config anew, as at the start but for the comment at its head, which ends with a line break. */
  writeConfig(comment: string): void {
    writeFileSync(this.#config.file, comment + this.#config.text);
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** As a program has it that asks for much. */
  get control(): ControlClient {
    this.#control ??= new ControlClient(this.socketPath, { keepsConnections: true });
    return this.#control;
  }

  /** SIGTERM, and SIGKILL where that does not end it. Rejects where it did not end with 0. Idempotent. */
  async stop(): Promise<void> {
    const child = this.#child;
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      const limit = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
      await exited;
      clearTimeout(limit);
    }
    if (child.exitCode !== 0) {
      throw new Error(`expected the daemon to end with 0, got ${child.exitCode ?? child.signalCode}`);
    }
  }
}

/** The start script with another config. Throws where it names none. */
export function withConfig(script: string, configFile: string): string {
  const option = /--config(?:=|\s+)(?:'[^']*'|"[^"]*"|\S+)/;
  if (!option.test(script)) throw new Error(`expected a start script with --config FILE, got ${script}`);
  const quoted = `'${configFile.replaceAll("'", `'\\''`)}'`;
  return script.replace(option, () => `--config ${quoted}`);
}

function spawnTarget(target: Target, configFile: string): ChildProcess {
  const stdio = ['ignore', 'pipe', 'pipe'] as const;
  const env = plainEnvironment();
  if (target === 'binary')
    return spawn(BUILT.binary.file, ['run', '--config', configFile], { env, stdio: [...stdio] });
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly scripts: { readonly start: string };
  };
  // As npm runs it: by sh in the package's folder, with the package's commands first.
  env.PATH = `${join(ROOT, 'node_modules', '.bin')}${delimiter}${env.PATH ?? ''}`;
  return spawn('sh', ['-c', withConfig(scripts.start, configFile)], { cwd: ROOT, env, stdio: [...stdio] });
}

/** Without what would change the config or the runtime. */
function plainEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('COLIBRI_') && !name.startsWith('NODE_')),
  );
}

interface ReadyLine {
  readonly msg: string;
  readonly pid: number;
  readonly ready_ms: number;
}

/** The log is read to its end, so that the daemon is never held up by its reader. */
function readyLine(child: ChildProcess): Promise<ReadyLine> {
  return new Promise((resolve, reject) => {
    let text = '';
    let errors = '';
    const limit = setTimeout(
      () => reject(new Error(`expected \`ready\` within 30 s, got ${text}`)),
      READY_LIMIT_MS,
    );
    const take = (piece: string): void => {
      text += piece;
      const line = text
        .split('\n')
        .slice(0, -1)
        .map(parseLine)
        .find((parsed) => parsed?.msg === 'ready');
      if (line === undefined) return;
      clearTimeout(limit);
      child.stdout!.off('data', take).resume();
      resolve(line as ReadyLine);
    };
    child.stdout!.setEncoding('utf8').on('data', take);
    child.stderr!.setEncoding('utf8').on('data', (piece: string) => {
      errors = (errors + piece).slice(-4000);
    });
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      clearTimeout(limit);
      reject(new Error(`expected a daemon that is ready, got its end with ${code ?? signal}: ${errors}`));
    });
  });
}

function parseLine(line: string): Partial<ReadyLine> | null {
  try {
    return JSON.parse(line) as Partial<ReadyLine>;
  } catch {
    return null;
  }
}
