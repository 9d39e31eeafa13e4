/**
 * The config as the daemon uses it: every default filled in, every path absolute, every time in milliseconds.
 * `loadConfig` makes it from a file; the library makes it from its options.
 */

import type { PoolName } from '../../actors/execution.ts';
import type { FlowDefinition, TextPart } from '../../actors/flow/index.ts';
import type { BackoffPolicy } from '../../actors/runs/backoff.ts';
import type { GroupBounds } from '../../actors/runs/bounds.ts';
import { OverlapPolicy, WhenFull } from '../../actors/runs/policies.ts';

export { OverlapPolicy, WhenFull };

export const LogLevel = {
  Debug: 'debug',
  Info: 'info',
  Warn: 'warn',
  Error: 'error',
  Silent: 'silent',
} as const;
export type LogLevel = (typeof LogLevel)[keyof typeof LogLevel];

/** When a task runs by itself. Of a cron expression the fields count; its text is what people are shown. */
export type ScheduleSpec = (
  | {
      readonly kind: 'cron';
      readonly expression: string;
      readonly timeZone: string | null;
      readonly dst: DstPolicy;
      readonly fields: CronFields;
    }
  | { readonly kind: 'every'; readonly everyMs: number }
  | { readonly kind: 'at'; readonly atMs: number }
) & { readonly bounds?: ScheduleBounds };

/** Which of its instants count. */
export interface ScheduleBounds {
  /** From this instant on; null: from ever on. */
  readonly startAtMs: number | null;
  /** Before this instant; null: for ever. */
  readonly stopAtMs: number | null;
  /** Not on these local dates, of a cron expression those of its local times; in order, apart from each other. */
  readonly exclude: readonly DateRange[];
  /** Whose dates they are, that of the task; null: the zone of the machine. */
  readonly timeZone: string | null;
}

/** Local dates as days since 1970, both of them within it. */
export interface DateRange {
  readonly firstDay: number;
  readonly lastDay: number;
}

/** Of local times that a change of the clocks skips or repeats. */
export interface DstPolicy {
  readonly gap: 'shift' | 'skip';
  readonly repeat: 'first' | 'last' | 'both';
}

export const DEFAULT_DST: DstPolicy = { gap: 'shift', repeat: 'first' };

/**
 * A cron expression as sets of bits, made by the parser at load: plain numbers, so that hundreds of tasks cost
 * little and nothing of the parser stays in memory. A day counts that is in any of its sets.
 */
export interface CronFields {
  /** Bit 0: second 0, up to 29. */
  readonly secondsLow: number;
  /** Bit 0: second 30, up to 59. */
  readonly secondsHigh: number;
  readonly minutesLow: number;
  readonly minutesHigh: number;
  /** The minutes are written `*` or `*`/n: it runs through both hours of a repeat, whatever the policy. */
  readonly interval: boolean;
  /** Bit 0: midnight. */
  readonly hours: number;
  /** Bit 0: the first of the month. */
  readonly days: number;
  /** The last day of the month, whatever its number. */
  readonly lastDay: boolean;
  /** Bit 0: January. */
  readonly months: number;
  /** Bit 0: Sunday. */
  readonly weekdays: number;
  /** The `weekdays` of one week of the month only, from 1 to 5; 0: of all. */
  readonly nthWeek: number;
  /** The last of these weekdays in the month. Bit 0: Sunday. */
  readonly lastWeekdays: number;
}

export interface MisfirePolicy {
  readonly policy: 'run-once' | 'run-all' | 'skip';
  /** An occurrence later than this is missed; null: never too late. */
  readonly graceMs: number | null;
  /** At most so many missed occurrences are run by `run-all`. */
  readonly max: number;
}

export interface TaskSpec {
  readonly name: string;
  readonly kind: 'cpu' | 'io';
  readonly handler: string;
  readonly pool: PoolName;
  readonly with: Readonly<Record<string, unknown>>;
  /** `root`: absolute folder before the first wildcard; `pattern`: the rest, relative to it, with `/`. */
  readonly each: { readonly root: string; readonly pattern: string } | null;
  readonly schedule: ScheduleSpec | null;
  readonly misfire: MisfirePolicy;
  readonly overlap: OverlapPolicy;
  readonly splayMs: number;
  readonly runOnStart: boolean;
  readonly timeoutMs: number;
  readonly maxRetry: number;
  readonly backoff: BackoffPolicy;
  readonly onInterrupted: 'rerun' | 'skip' | 'ask';
  readonly group: string | null;
  readonly priority: number;
  /** How many of its runs at once; null: no bound of its own. */
  readonly bounds: {
    readonly concurrency: number | null;
    /** At most `concurrency` runs of one key, which is made of the parts. */
    readonly key: { readonly parts: readonly TextPart[]; readonly concurrency: number } | null;
  } | null;
}

/** A task, or a flow, as far as its schedule goes. */
export type ScheduledSpec = Pick<TaskSpec, 'name' | 'schedule' | 'splayMs'>;

/** A flow is due, and overlaps, as a task does. */
export interface FlowSpec
  extends FlowDefinition,
    Pick<TaskSpec, 'schedule' | 'misfire' | 'overlap' | 'splayMs' | 'runOnStart' | 'priority'> {}

export interface Config {
  /** Absolute path of the file; null for a config made in code. */
  readonly file: string | null;
  /** What relative paths are relative to. */
  readonly directory: string;
  readonly version: string | null;
  readonly stateDir: string;
  readonly memory: { readonly budgetBytes: number };
  readonly shutdown: { readonly graceMs: number };
  readonly store: { readonly kind: 'memory' | 'sqlite'; readonly durability: 'process' | 'power' };
  readonly retention: {
    readonly runs: number;
    readonly results: number;
    readonly resultTtlMs: number;
    readonly maxBytes: number;
    /** Of files of large results; 0: there are none. */
    readonly resultFilesBytes: number;
  };
  readonly pools: {
    readonly cpu: { readonly threads: number; readonly idleMs: number };
    readonly io: IoPoolSpec;
  };
  readonly queues: {
    readonly ready: {
      readonly capacity: number;
      /** What the capacity is the product of; null where it was given as a number. */
      readonly rates: { readonly backlogPerSecond: number; readonly tolerateSeconds: number } | null;
      readonly whenFull: WhenFull;
      /** Shares of the capacity: above the one its sources wait, below the other they go on. */
      readonly watermarks: { readonly high: number; readonly low: number };
      /** Waiting time that one step of priority is worth. */
      readonly ageingMs: number;
    };
    readonly delayed: { readonly capacity: number };
    readonly retry: { readonly capacity: number };
    readonly deadLetter: { readonly capacity: number; readonly whenFull: 'drop-oldest' | 'drop-newest' };
  };
  /** Runs on slots over all pools; null: no bound but the slots. */
  readonly concurrency: number | null;
  readonly groups: Readonly<Record<string, GroupBounds>>;
  /** Null: not served. Port 0: any free port. */
  readonly metrics: { readonly host: string; readonly port: number } | null;
  readonly log: {
    readonly level: LogLevel;
    readonly file: string | null;
    readonly maxBytes: number;
    readonly keepDays: number;
  };
  /** What the globs of `handlers` found: the name that tasks use and the absolute path. Not imported yet. */
  readonly modules: readonly { readonly name: string; readonly file: string }[];
  readonly tasks: readonly TaskSpec[];
  /** No name of them is that of a task. */
  readonly flows: readonly FlowSpec[];
}

/**
 * Slots of an io pool: `fixed` as given; `ratio` cores × (1 + wait/compute) with the given times;
 * `measured` the same with times measured by the runtime, starting from the given ones.
 */
export interface IoPoolSpec {
  readonly sizing: 'fixed' | 'ratio' | 'measured';
  readonly slots: number;
  readonly waitMs: number;
  readonly computeMs: number;
}
