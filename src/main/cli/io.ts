/** What the command line is given: the terminal, the environment, and the parts of the daemon that it starts. */
import type { Config } from '../config/config.ts';

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

/** Where a problem of a config is, as the config folder tells it. */
export interface ConfigProblem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export interface LoadedConfig {
  readonly config: Config;
  readonly warnings: readonly ConfigProblem[];
}

/** Handed in, so that a command loads only what it needs, and a test nothing at all. */
export interface CliDeps {
  readonly version: string;
  /** The config where none is named; null: there is none. */
  findConfigFile(cwd: string): Promise<string | null>;
  /** Rejects with `config-invalid`, which carries `problems` where they are known one by one. */
  loadConfig(file: string): Promise<LoadedConfig>;
  formatProblem(problem: ConfigProblem): string;
  /** Runs until the daemon is stopped; resolves with the exit code. */
  runDaemon(options: LoadedConfig): Promise<number>;
}
