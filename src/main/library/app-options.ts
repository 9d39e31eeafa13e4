/** What an app is made of: the keys of the config file in camelCase, and what only a program can give. */
import type { Clock } from '../../actors/kernel/index.ts';
import type { LogLevel, RawConfig } from '../config/index.ts';
import type { InCamelCase } from './camel-case.ts';

/** Short forms of the file. */
interface ShortForms {
  /** `queues.ready.capacity`. */
  readonly queueSize?: number | undefined;
  /** `pools.io.slots`, which are the slots of functions too. */
  readonly workers?: number | 'measured' | undefined;
  /** `log.level`. */
  readonly logLevel?: LogLevel | undefined;
}

/**
 * Every key is optional. Three defaults differ from the file's, for an app is a guest in its program: `metrics` are not
 * served, `log.level` is `warn`, and with a store in memory there is no state directory.
 */
export interface AppOptions extends InCamelCase<Omit<RawConfig, 'tasks' | 'flows'>>, ShortForms {
  /** What relative paths are relative to. Default: the working directory. */
  readonly directory?: string | undefined;
  /** Of schedules, retries, and timeouts of functions; a test gives a `TestClock`. */
  readonly clock?: Clock | undefined;
  /** In [0, 1): of backoff. */
  readonly random?: (() => number) | undefined;
}
