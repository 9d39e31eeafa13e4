/**
 * Reloading the config: reads the file anew and says what came of it. Bounds on runs at one time, priorities and the version
 * are taken up at once. Of anything else this version can take up a change at a start only, so that such a config is refused
 * as one that is wrong; in either case nothing has changed. A text that is known to say what is in use is not looked at
 * again: tools that keep machines as they should be reload now and then, whether or not they have changed anything.
 */
import { readFileSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { ColibriError, toErrorData } from '../actors/kernel/index.ts';
import type { ConfigProblem, LogRecord, ReloadReply } from '../actors/protocol.ts';
import type { Config, LoadedConfig } from './config/index.ts';
import { MAX_CONFIG_BYTES } from './config-bytes.ts';
import { configChanges, withBoundsOf } from './config-changes.ts';

export interface ReloadSource {
  /** Null: the file cannot be read, and `load` says why. */
  readonly look: () => ConfigSight | null;
  /** Reads the config anew, as at the start. */
  readonly load: () => Promise<LoadedConfig>;
}

/** A file as it is now. */
export interface ConfigSight {
  /** All that decides what a config says that stands for itself: the bytes of the file and the number of cores. */
  readonly text: string;
  /** Another one whenever it was written. */
  readonly writtenMs: number;
}

/** A config in a file. `load` reads it, and says what is wrong with it. */
export function sourceIn(file: string, load: ReloadSource['load']): ReloadSource {
  return { load, look: () => lookAt(file) };
}

export interface ReloaderOptions {
  /** In use at the start. */
  readonly config: Config;
  /** Null for a daemon that was made in code. */
  readonly source: ReloadSource | null;
  /** Takes up the bounds of a config that differs in nothing else. */
  readonly onBounds: (config: Config) => void;
  readonly log: (level: LogRecord['level'], msg: string, fields: LogRecord['fields']) => void;
  /** Collects what a reload leaves behind: some MB, of which the next ones must not make more. */
  readonly tidy: () => void;
}

/** Changes that are named; of more, the number. */
const NAMED = 10;

export class Reloader {
  readonly #options: ReloaderOptions;
  #running: Promise<ReloadReply> | null = null;
  #ok = true;
  #config: Config;
  /** Of the file when it was last found to say what is in use; null: not known, or not by its text alone. At most 1 MiB. */
  #text: string | null = null;

  constructor(options: ReloaderOptions) {
    this.#options = options;
    this.#config = options.config;
  }

  /** In use. */
  get config(): Config {
    return this.#config;
  }

  /** Whether the last reload found nothing wrong; true where there was none. */
  get ok(): boolean {
    return this.#ok;
  }

  /**
   * Callers at one time share one reload. Rejects with `usage` where there is no file, else with what kept the file
   * from being looked at.
   */
  reload(): Promise<ReloadReply> {
    this.#running ??= this.#reload().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #reload(): Promise<ReloadReply> {
    const { source, log } = this.#options;
    if (source === null) {
      throw new ColibriError('usage', 'expected a daemon with a config file, got one that was made in code');
    }
    let reply: ReloadReply;
    try {
      const sight = source.look();
      const { version, tasks } = this.#config;
      const isKnown = sight !== null && sight.text === this.#text;
      if (isKnown) reply = { outcome: 'unchanged', version, tasks: tasks.length };
      else reply = await this.#load(source, sight);
    } catch (error) {
      this.#ok = false;
      log('error', 'reload failed', { error: toErrorData(error, 'internal').message });
      throw error;
    }
    this.#ok = reply.outcome === 'unchanged' || reply.outcome === 'taken-up';
    this.#tell(reply);
    return reply;
  }

  async #load(source: ReloadSource, sight: ConfigSight | null): Promise<ReloadReply> {
    try {
      const { config, selfContained } = await source.load();
      const reply = this.#compare(config);
      if (reply.outcome !== 'differs') {
        // Somebody may have written it in between, even twice.
        const isSame = sight !== null && source.look()?.writtenMs === sight.writtenMs;
        this.#text = isSame && selfContained ? sight.text : null;
      }
      return reply;
    } catch (error) {
      const problems = problemsOf(error);
      if (problems === null) throw error;
      return { outcome: 'invalid', problems };
    } finally {
      // In a turn of its own: the answer goes first, and what came meanwhile.
      setImmediate(this.#options.tidy);
    }
  }

  #compare(fresh: Config): ReloadReply {
    const config = this.#config;
    const changes = configChanges(config, fresh);
    const { version, tasks } = fresh;
    if (changes.length === 0) return { outcome: 'unchanged', version, tasks: tasks.length };
    const named = { changes: changes.slice(0, NAMED), more: Math.max(0, changes.length - NAMED) };
    if (configChanges(config, withBoundsOf(fresh, config)).length > 0)
      return { outcome: 'differs', ...named };
    this.#options.onBounds(fresh);
    this.#config = fresh;
    return { outcome: 'taken-up', version, tasks: tasks.length, ...named };
  }

  #tell(reply: ReloadReply): void {
    const { log } = this.#options;
    switch (reply.outcome) {
      case 'unchanged':
        return log('info', 'reload: nothing changed', { tasks: reply.tasks });
      case 'invalid': {
        const [{ file, line, column, message }] = reply.problems as [ConfigProblem];
        const first = `${file}:${line}:${column}: ${message}`;
        return log('error', 'reload refused: the config is wrong', {
          problems: reply.problems.length,
          first,
        });
      }
      case 'taken-up': {
        const { changes, more } = reply;
        return log('info', 'reload: taken up', { changes, more });
      }
      case 'differs': {
        const { changes, more } = reply;
        return log('warn', 'reload refused: the config differs, restart to take it up', { changes, more });
      }
    }
  }
}

/** Known by its shape: the class belongs to the part of the program that was loaded for this, and forgotten. */
function problemsOf(error: unknown): readonly ConfigProblem[] | null {
  if (typeof error !== 'object' || error === null || !('problems' in error)) return null;
  const { problems } = error;
  return Array.isArray(problems) && problems.length > 0 ? (problems as readonly ConfigProblem[]) : null;
}

function lookAt(file: string): ConfigSight | null {
  try {
    const stat = statSync(file);
    if (!stat.isFile() || stat.size > MAX_CONFIG_BYTES) return null;
    const bytes = readFileSync(file, 'latin1');
    return { text: `${availableParallelism()} ${bytes}`, writtenMs: stat.ctimeMs };
  } catch {
    return null;
  }
}
