/** One life of a daemon: a process of its own that is ended by the one who started it, and what it said until then. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as passed } from 'node:timers/promises';
import { ControlClient } from '../../src/main/cli/client.ts';
import { MachinePressure } from '../support/process-facts.ts';
import type { Program } from './program.ts';

export type LogLine = Readonly<Record<string, unknown>> & { readonly msg: string };

export interface VictimOptions {
  readonly program: Program;
  /** Of `colibri.yaml`. */
  readonly dir: string;
  readonly stateDir: string;
  /** Gets all that it writes. */
  readonly logFile: string;
  readonly preloads?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Lines that are kept: what is said of single runs is in the file alone. */
const KEPT = /"level":"(?:warn|error)"|"msg":"(?:ready|recovered|stopping|stopped|thread|journal|store)/;
const RUN_LINE = /"run":"/;
const READY_LIMIT_MS = 30_000;
const EXIT_LIMIT_MS = 60_000;
const SERVICE_LIMIT_MS = 20_000;
const LOOK_MS = 10;

export class Victim {
  readonly spawnedAtMs = Date.now();
  readonly spawnedMono = performance.now();
  readonly control: ControlClient;
  /** Rejects where it ends before. */
  readonly ready: Promise<{ readonly tookMs: number; readonly pressureMs: number }>;
  readonly exited: Promise<Exit>;
  readonly lines: LogLine[] = [];
  readonly #child: ChildProcess;
  readonly #log: WriteStream;
  readonly #pressure = new MachinePressure();
  #stderr = '';

  constructor({ program, dir, stateDir, logFile, preloads = [], env = {} }: VictimOptions) {
    const { file, args } = program.command(preloads);
    this.control = new ControlClient(join(stateDir, 'control.sock'));
    this.#log = createWriteStream(logFile);
    this.#child = spawn(file, args, {
      cwd: dir,
      env: { ...plainEnvironment(), ...env },
      stdio: ['ignore', 'pipe', 'pipe', ...(preloads.length > 0 ? (['ipc'] as const) : [])],
    });
    this.exited = once(this.#child, 'close').then(([code, signal]) => {
      this.#log.end();
      return { code, signal } as Exit;
    });
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-4000);
      this.#log.write(text);
    });
    this.ready = this.#becomeReady();
    // Who awaits it later learns of it then.
    this.ready.catch(() => {});
  }

  get pid(): number {
    return this.#child.pid!;
  }

  get stderr(): string {
    return this.#stderr;
  }

  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** What others took of the machine since it was started, ms. */
  get pressureMs(): number {
    return this.#pressure.takenMs();
  }

  line(msg: string): LogLine | undefined {
    return this.lines.find((line) => line.msg === msg);
  }

  /** `kill -9` of this one process. Idempotent. */
  async kill(): Promise<void> {
    if (this.alive) this.#child.kill('SIGKILL');
    await this.exited;
  }

  /** SIGTERM. Rejects where that does not end it. */
  async terminate(): Promise<Exit & { readonly tookMs: number; readonly pressureMs: number }> {
    const pressure = new MachinePressure();
    const startMono = performance.now();
    this.#child.kill('SIGTERM');
    const limit = new AbortController();
    const exit = await Promise.race([
      this.exited,
      passed(EXIT_LIMIT_MS, null, { signal: limit.signal, ref: false }).catch(() => null),
    ]);
    const tookMs = performance.now() - startMono;
    limit.abort();
    if (exit === null) throw new Error(`expected an end after SIGTERM, got none within ${EXIT_LIMIT_MS} ms`);
    return { ...exit, tookMs, pressureMs: pressure.takenMs() };
  }

  /** Of a victim with that preload: ends its service thread. Resolves when it answers again, with the time that took. */
  async loseService(): Promise<{ readonly tookMs: number; readonly pressureMs: number }> {
    const restarts = await this.#restarts();
    const pressure = new MachinePressure();
    const startMono = performance.now();
    this.#child.send('lose-service');
    while (performance.now() - startMono < SERVICE_LIMIT_MS) {
      const now = await this.#restarts().catch(() => restarts);
      if (now > restarts) return { tookMs: performance.now() - startMono, pressureMs: pressure.takenMs() };
      await passed(LOOK_MS);
    }
    throw new Error(`expected a new service thread within ${SERVICE_LIMIT_MS} ms, got none`);
  }

  async #restarts(): Promise<number> {
    const status = (await this.control.get('/status')) as {
      readonly thread_restarts: Readonly<Record<string, number>>;
    };
    return status.thread_restarts.service ?? 0;
  }

  async #becomeReady(): Promise<{ tookMs: number; pressureMs: number }> {
    const seen = Promise.withResolvers<void>();
    createInterface({ input: this.#child.stdout! }).on('line', (text) => {
      this.#log.write(`${text}\n`);
      if (!KEPT.test(text) || RUN_LINE.test(text)) return;
      const line = parseLine(text);
      this.lines.push(line);
      if (line.msg === 'ready') seen.resolve();
    });
    const limit = setTimeout(
      () => seen.reject(new Error(`expected \`ready\` within ${READY_LIMIT_MS} ms`)),
      READY_LIMIT_MS,
    );
    try {
      const ended = this.exited.then(({ code, signal }) => {
        throw new Error(`expected \`ready\`, got the end with ${code ?? signal}: ${this.#stderr}`);
      });
      ended.catch(() => {});
      await Promise.race([seen.promise, ended]);
      return { tookMs: performance.now() - this.spawnedMono, pressureMs: this.#pressure.takenMs() };
    } finally {
      clearTimeout(limit);
    }
  }
}

function parseLine(text: string): LogLine {
  try {
    return JSON.parse(text) as LogLine;
  } catch {
    return { msg: text, broken: true };
  }
}

/** Without what would change the config or the runtime. */
function plainEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('COLIBRI_') && !name.startsWith('NODE_')),
  );
}
