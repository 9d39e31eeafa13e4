/** What the command line is given: the terminal, the environment, and the parts of the daemon that it starts. */
import type { ConfigProblem } from '../../actors/protocol.ts';
import type { SizeView } from '../../actors/views/size-view.ts';
import type { Config, ScheduledSpec } from '../config/config.ts';
import type { PreviewQuestion, TaskPreview } from '../config-part.ts';

export interface TextSink {
  write(text: string): unknown;
}

export interface CliIo {
  readonly stdout: TextSink;
  readonly stderr: TextSink;
  /** For `--payload -`. */
  readonly stdin: AsyncIterable<Uint8Array | string>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Of the standard output. */
  readonly isTTY: boolean;
  readonly columns: number;
  nowMs(): number;
  /** Calls back on Ctrl-C in place of the default; returns the way back to it. */
  onInterrupt(callback: () => void): () => void;
}

export type { ConfigProblem };

export interface LoadedConfig {
  readonly config: Config;
  readonly warnings: readonly ConfigProblem[];
}

export interface LoadOptions {
  /** Warn of what is to come by the schedules too, which takes some milliseconds. Default false. */
  readonly lookAhead?: boolean;
}

/** Handed in, so that a command loads only what it needs, and a test nothing at all. */
export interface CliDeps {
  readonly version: string;
  /** The config where none is named; null: there is none. */
  findConfigFile(cwd: string): Promise<string | null>;
  /** Rejects with `config-invalid`, which carries `problems` where they are known one by one. */
  loadConfig(file: string, options?: LoadOptions): Promise<LoadedConfig>;
  /** What the memory ledger says without a daemon. */
  sizeOf(config: Config): Promise<SizeView>;
  /** When a task is due next; null where the question names no instant. */
  previewOf(task: ScheduledSpec, question: PreviewQuestion): Promise<TaskPreview | null>;
  /** Where the daemon of a config is that cannot be loaded just now: its state directory, absolute, as far as it can be told. */
  stateDirOf(file: string): Promise<string>;
  /** What flows are drawn with. */
  loadFlows(): Promise<typeof import('../flows-part.ts')>;
  formatProblem(problem: ConfigProblem): string;
  /** Starts what takes longest, while the config is being loaded. The function ends what no daemon has taken. */
  prepareDaemon?(): () => void;
  /** Runs until the daemon is stopped; resolves with the exit code. */
  runDaemon(options: LoadedConfig): Promise<number>;
}
