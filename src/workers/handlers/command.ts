/**
 * `command`: runs a program, drains what it writes, and ends it with all it started when it is told to.
 *
 * What always holds: both streams are read to the end however much comes, and only head and tail are kept;
 * the run is over when the program has exited, even if something it left behind still holds its output; a
 * run that was told to stop leaves no process behind that can still be found (`process-tree.ts` says which cannot).
 */
import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { ColibriError } from '../../actors/kernel/errors.ts';
import { hugePages } from '../../actors/kernel/index.ts';
import type { BuiltInHandler, HandlerContext } from '../handler.ts';
import { RunContext } from '../handler-context.ts';
import {
  type CommandInput,
  checkCommandInput,
  commandSchema,
  parseCommandInput,
} from '../processes/command-input.ts';
import { OutputTail } from '../processes/output-tail.ts';
import { OutputWhole } from '../processes/output-whole.ts';
import { ProcessTable } from '../processes/process-table.ts';
import { ProcessTree, RUN_MARK, TREE_MARK, treeMarkOf } from '../processes/process-tree.ts';

/** Between the polite signal and SIGKILL, unless the run is given up before. */
const KILL_GRACE_MS = 1000;

/** After the exit: how long output that is under way is waited for, and how long a silence ends the wait. */
const DRAIN_MS = 250;
const QUIET_MS = 50;

/** When the tree is looked at again after a kill that found members. */
const KILL_AGAIN_MS = [5, 20, 100, 500];

/** UTF-16 code units of the end of stderr that go into the message of a failure. */
const MESSAGE_TAIL = 2000;

/** Makes the handler; its runs share one view of the process table. */
export function createCommand(): BuiltInHandler {
  const table = new ProcessTable();
  return {
    name: 'command',
    kind: 'io',
    summary: 'Runs a program.',
    inputSchema: commandSchema,
    perFile: false,
    pathKeys: ['cwd'],
    checkInput: checkCommandInput,
    handle: (input: unknown, context) => {
      const parsed = parseCommandInput(input);
      return new Promise<unknown>((resolve, reject) => {
        new CommandRun({ input: parsed, context, table, resolve, reject }).start();
      });
    },
  };
}

interface CommandRunOptions {
  readonly input: CommandInput;
  readonly context: HandlerContext;
  readonly table: ProcessTable;
  /** A `CommandResult`, or what the program says is its result. */
  readonly resolve: (result: unknown) => void;
  readonly reject: (thrown: unknown) => void;
}

export interface CommandResult {
  readonly exit_code: number | null;
  readonly signal: string | null;
  /** Head and tail, at most 8 KiB each. */
  readonly stdout: string;
  readonly stderr: string;
  readonly stdout_bytes: number;
  readonly stderr_bytes: number;
}

class CommandRun {
  readonly #options: CommandRunOptions;
  readonly #input: CommandInput;
  readonly #context: HandlerContext;
  readonly #stdout = new OutputTail();
  readonly #stderr = new OutputTail();
  /** Null: what it writes is not its result. */
  readonly #written: OutputWhole | null;
  readonly #mark = treeMarkOf(`${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`);
  readonly #onAbort = () => this.#stop();
  #child: ChildProcess | null = null;
  #tree: ProcessTree | null = null;
  #killTimer: NodeJS.Timeout | undefined;
  #drainTimer: NodeJS.Timeout | undefined;
  #quietTimer: NodeJS.Timeout | undefined;
  #done = false;

  constructor(options: CommandRunOptions) {
    this.#options = options;
    this.#input = options.input;
    this.#written = options.input.writesResult ? new OutputWhole() : null;
    this.#context = options.context;
  }

  start(): void {
    const { signal } = this.#context;
    if (signal.aborted) {
      this.#options.reject(signal.reason);
      return;
    }
    const { run, task, attempt } = this.#context;
    const { file, args, cwd, env, stdin } = this.#input;
    // Loaded by the first command: it brings the sockets with it, and many daemons run none.
    const { spawn } = process.getBuiltinModule('node:child_process');
    const options: SpawnOptions = {
      cwd,
      // A group and session of its own: the whole of it can be signalled, and a terminal's ^C spares it.
      detached: true,
      stdio: [stdin === null ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      env: {
        ...process.env,
        ...env,
        [RUN_MARK]: run,
        COLIBRI_TASK: task,
        COLIBRI_ATTEMPT: String(attempt),
        [TREE_MARK]: this.#mark,
      },
    };
    const child = hugePages.forChild(() => spawn(file, args, options));
    this.#child = child;
    child.once('error', (error) => this.#fail(this.#notStarted(error)));
    if (child.pid === undefined) return;
    this.#tree = new ProcessTree(this.#options.table, child.pid, this.#mark);
    if (this.#context instanceof RunContext) this.#context.onKill(() => this.#killTree());
    signal.addEventListener('abort', this.#onAbort, { once: true });
    this.#drain(child.stdout, this.#stdout, this.#written);
    this.#drain(child.stderr, this.#stderr, null);
    // A program that does not read its input closes it: no fault of the run.
    child.stdin?.on('error', () => {});
    child.stdin?.end(stdin ?? '');
    child.once('exit', () => this.#onExit());
    child.once('close', () => this.#finish());
  }

  #drain(stream: Readable | null, output: OutputTail, whole: OutputWhole | null): void {
    stream?.on('error', () => {});
    stream?.on('data', (chunk: Buffer) => {
      output.write(chunk);
      whole?.write(chunk);
      this.#quietTimer?.refresh();
      // Given back at once: left to the collector, 100 MB of output would be up to 80 MB of memory.
      if (chunk.byteLength === chunk.buffer.byteLength) (chunk.buffer as ArrayBuffer).transfer(0);
    });
  }

  /** What the program left behind may hold the streams for ever: waits for the rest, not for their end. */
  #onExit(): void {
    this.#drainTimer = setTimeout(() => setImmediate(() => this.#finish()), DRAIN_MS);
    this.#quietTimer = setTimeout(() => {
      const seen = this.#stdout.bytes + this.#stderr.bytes;
      // A thread that was busy has output waiting: one turn of the loop reads before the silence counts.
      setImmediate(() => {
        if (seen === this.#stdout.bytes + this.#stderr.bytes) this.#finish();
        else this.#quietTimer?.refresh();
      });
    }, QUIET_MS);
  }

  #finish(): void {
    const child = this.#child;
    if (child === null || (child.exitCode === null && child.signalCode === null)) return;
    if (this.#context.aborted) {
      this.#killTree();
      this.#fail(this.#context.signal.reason);
      return;
    }
    const { exitCode, signalCode } = child;
    if (exitCode !== 0) {
      this.#fail(this.#ended(exitCode, signalCode));
      return;
    }
    if (this.#written !== null) return this.#finishWith(this.#written);
    if (!this.#close()) return;
    this.#options.resolve(this.#result(exitCode, signalCode));
  }

  #finishWith(written: OutputWhole): void {
    const said = written.json();
    if ('problem' in said) {
      const message = `expected JSON on standard output of ${this.#name()}, as result: json says, got ${said.problem}`;
      return this.#fail(new ColibriError('command-failed', message));
    }
    if (this.#close()) this.#options.resolve(said.value);
  }

  #result(exitCode: number | null, signalCode: string | null): CommandResult {
    return {
      exit_code: exitCode,
      signal: signalCode,
      stdout: this.#stdout.text(),
      stderr: this.#stderr.text(),
      stdout_bytes: this.#stdout.bytes,
      stderr_bytes: this.#stderr.bytes,
    };
  }

  #fail(thrown: unknown): void {
    if (this.#close()) this.#options.reject(thrown);
  }

  /** False if it was closed before. */
  #close(): boolean {
    if (this.#done) return false;
    this.#done = true;
    for (const timer of [this.#killTimer, this.#drainTimer, this.#quietTimer]) clearTimeout(timer);
    this.#context.signal.removeEventListener('abort', this.#onAbort);
    this.#child?.stdin?.destroy();
    this.#child?.stdout?.destroy();
    this.#child?.stderr?.destroy();
    return true;
  }

  #stop(): void {
    this.#tree?.signal(this.#input.killSignal);
    this.#killTimer = setTimeout(() => this.#killTree(), KILL_GRACE_MS);
  }

  /** Kills, and looks again until nobody is left: a member may have been about to fork. */
  #killTree(round = 0): void {
    clearTimeout(this.#killTimer);
    if (this.#tree === null || this.#tree.signal('SIGKILL') === 0) return;
    const againMs = KILL_AGAIN_MS[round];
    if (againMs !== undefined) setTimeout(() => this.#killTree(round + 1), againMs);
  }

  #ended(exitCode: number | null, signalCode: string | null): ColibriError {
    const how = signalCode === null ? `${exitCode}` : `signal ${signalCode}`;
    const tail = this.#stderr.end(MESSAGE_TAIL).trimEnd();
    const said = tail === '' ? 'it wrote nothing to stderr' : `stderr ends:\n${tail}`;
    return new ColibriError('command-failed', `expected ${this.#name()} to exit with 0, got ${how}; ${said}`);
  }

  /** ENOENT does not say whether it was the folder or the program. */
  #notStarted(error: NodeJS.ErrnoException): CommandNotStarted {
    const { cwd } = this.#input;
    if (cwd !== undefined && !isFolder(cwd)) {
      return new CommandNotStarted(`expected cwd to be a folder that exists, got ${cwd}`, false, error);
    }
    switch (error.code) {
      case 'ENOENT':
        return new CommandNotStarted(
          `expected ${this.#name()} to be a program on the PATH or a path to one, got none`,
          false,
          error,
        );
      case 'EACCES':
        return new CommandNotStarted(`expected ${this.#name()} to be executable, it is not`, false, error);
      default:
        return new CommandNotStarted(`expected ${this.#name()} to start, got ${error.message}`, true, error);
    }
  }

  #name(): string {
    return JSON.stringify(this.#input.file);
  }
}

/** `retryable` is false where the next attempt would meet the same. */
class CommandNotStarted extends ColibriError {
  readonly retryable: boolean;

  constructor(message: string, retryable: boolean, cause: unknown) {
    super('command-failed', message, { cause });
    this.retryable = retryable;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
