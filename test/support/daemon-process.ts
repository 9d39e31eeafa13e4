/** A daemon as a user starts it: a process of its own, its log lines as objects, commands beside it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createDeps } from '../../src/main/cli/deps.ts';
import type { CliIo } from '../../src/main/cli/io.ts';
import { main } from '../../src/main/cli/main.ts';
import { RUN } from './program.ts';
import type { HasAfter } from './temp-dir.ts';

export type LogLine = Readonly<Record<string, unknown>>;

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `colibri ARGS` to its end, in this process: all but `run` live long enough for no more than that. */
export async function colibri(args: readonly string[], cwd: string): Promise<CommandResult> {
  const out = { stdout: '', stderr: '' };
  const sink = (name: 'stdout' | 'stderr') => ({
    write(text: string) {
      out[name] += text;
    },
  });
  const io: CliIo = {
    stdout: sink('stdout'),
    stderr: sink('stderr'),
    stdin: (async function* () {})(),
    env: {},
    cwd,
    isTTY: false,
    columns: 80,
    nowMs: Date.now,
    onInterrupt: () => () => {},
  };
  const code = await main(args, io, createDeps(io, 'test'));
  return { code, ...out };
}

export class DaemonProcess {
  readonly child: ChildProcess;
  readonly lines: LogLine[] = [];
  readonly dir: string;
  readonly exited: Promise<number>;
  stderr = '';
  readonly #nativeBegun = Promise.withResolvers<void>();
  readonly #waiting = new Set<{ wanted: (line: LogLine) => boolean; found: (line: LogLine) => void }>();
  /** It has ended and all that it wrote is read. */
  readonly #over: Promise<never>;

  private constructor(dir: string, env: Readonly<Record<string, string>>) {
    this.dir = dir;
    const [file, ...args] = RUN;
    this.child = spawn(file, args, {
      cwd: dir,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.exited = once(this.child, 'exit').then(
      ([code, signal]) => (code as number | null) ?? `${signal}`,
    ) as Promise<number>;
    this.child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
      if (this.stderr.includes('native call begins')) this.#nativeBegun.resolve();
    });
    const lines = createInterface({ input: this.child.stdout! }).on('line', (text) => this.#take(text));
    this.#over = Promise.all([this.exited, once(lines, 'close')]).then(([code]) => {
      throw new Error(`expected a daemon that says more, got its end with ${code}: ${this.stderr}`);
    });
    this.#over.catch(() => {});
  }

  /** Starts a daemon by a config in the shape of the YAML file, and waits until it is ready. */
  static async start(
    t: HasAfter,
    dir: string,
    config: Readonly<Record<string, unknown>>,
    env: Readonly<Record<string, string>> = {},
  ): Promise<DaemonProcess> {
    writeConfig(dir, config);
    const daemon = new DaemonProcess(dir, env);
    t.after(async () => {
      if (t.passed === false) {
        const last = daemon.lines.slice(-20).map((line) => JSON.stringify(line).slice(0, 500));
        t.diagnostic?.(`the daemon's last lines:\n${last.join('\n')}\n${daemon.stderr.slice(-2000)}`);
      }
      daemon.child.kill('SIGKILL');
      await daemon.exited;
    });
    await daemon.line((line) => line.msg === 'ready');
    return daemon;
  }

  /** A module of the tests sits in a long native call. */
  get nativeBegun(): Promise<void> {
    return this.#nativeBegun.promise;
  }

  /** The first line, past or to come, that is wanted; rejects once the daemon is gone and did not say it. */
  line(wanted: (line: LogLine) => boolean): Promise<LogLine> {
    const past = this.lines.find(wanted);
    if (past !== undefined) return Promise.resolve(past);
    const { promise, resolve, reject } = Promise.withResolvers<LogLine>();
    this.#waiting.add({ wanted, found: resolve });
    this.#over.catch(reject);
    // Who no longer waits for it is not told.
    promise.catch(() => {});
    return promise;
  }

  command(...args: string[]): Promise<CommandResult> {
    return colibri(args, this.dir);
  }

  async json(...args: string[]): Promise<{ readonly code: number; readonly value: unknown }> {
    const { code, stdout } = await this.command(...args, '--json');
    return { code, value: stdout === '' ? null : JSON.parse(stdout) };
  }

  #take(text: string): void {
    let line: LogLine;
    try {
      line = JSON.parse(text) as LogLine;
    } catch {
      line = { msg: text, broken: true };
    }
    this.lines.push(line);
    for (const waiter of [...this.#waiting]) {
      if (!waiter.wanted(line)) continue;
      this.#waiting.delete(waiter);
      waiter.found(line);
    }
  }
}

/** Sources take more than the built program, whose budget is measured by its own tests. */
const MEMORY = { budget_mb: 200 };

/** YAML holds JSON. */
export function writeConfig(dir: string, config: Readonly<Record<string, unknown>>): void {
  writeFileSync(
    join(dir, 'colibri.yaml'),
    JSON.stringify({ metrics: { listen: '127.0.0.1:0' }, memory: MEMORY, ...config }, null, 2),
  );
}
