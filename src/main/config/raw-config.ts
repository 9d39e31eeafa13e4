/**
 * The config as it is written, after its schema was checked, what does not fit was taken away, and defaults
 * were put in: what the resolving functions read. Keys that inherit stay away when they are not written.
 */
import type { RawExpectation } from '../../actors/flow/index.ts';
import type { DstPolicy, LogLevel, OverlapPolicy, WhenFull } from './config.ts';

export interface RawBackoff {
  readonly kind?: 'scaled' | 'additive';
  readonly base_seconds?: number;
  readonly cap_seconds?: number;
  readonly jitter_seconds?: number;
}

export interface RawMisfire {
  readonly policy?: 'run-once' | 'run-all' | 'skip';
  readonly grace_seconds?: number | null;
  readonly max?: number;
}

/** What both a task and `defaults` may say. */
export interface RawShared {
  readonly time_zone?: string;
  readonly dst?: Partial<DstPolicy>;
  readonly misfire?: RawMisfire;
  readonly overlap?: OverlapPolicy;
  readonly splay_seconds?: number;
  readonly timeout_seconds?: number;
  readonly max_retry?: number;
  readonly backoff?: RawBackoff;
  readonly on_interrupted?: 'rerun' | 'skip' | 'ask';
  readonly priority?: number;
}

/** When a task, or a flow, runs by itself. */
export interface RawSchedule {
  readonly schedule?: string;
  readonly every?: string | number;
  readonly at?: string;
  readonly start_at?: string;
  readonly stop_at?: string;
  readonly exclude?: readonly (string | undefined)[];
}

export interface RawTask extends RawShared, RawSchedule {
  readonly name?: string;
  readonly kind?: 'cpu' | 'io';
  readonly handler?: string;
  readonly with: Readonly<Record<string, unknown>>;
  readonly each?: { readonly files?: string };
  readonly run_on_start: boolean;
  readonly group?: string;
  readonly concurrency?: number;
  readonly concurrency_key?: string;
  readonly concurrency_per_key?: number;
}

export interface RawGroup {
  readonly concurrency?: number;
  readonly rate?: string;
  readonly burst?: number;
}

export interface RawStep {
  readonly task?: string;
  readonly depends_on: readonly (string | undefined)[];
  readonly on_upstream_failure: 'skip' | 'run' | 'fail';
  readonly with?: Readonly<Record<string, unknown>>;
  readonly each?: {
    readonly list?: string;
    readonly concurrency: number;
    readonly on_item_failure: 'stop' | 'continue';
  };
  readonly expect?: RawExpectation;
  readonly timeout_seconds?: number;
  readonly max_retry?: number;
  readonly backoff?: RawBackoff;
  readonly priority?: number;
}

export interface RawFlow
  extends RawSchedule,
    Pick<RawShared, 'time_zone' | 'dst' | 'misfire' | 'overlap' | 'splay_seconds' | 'priority'> {
  readonly name?: string;
  readonly run_on_start: boolean;
  readonly timeout_seconds: number | null;
  readonly on_failure?: { readonly task?: string; readonly with?: Readonly<Record<string, unknown>> };
  readonly steps?: readonly (RawStep | undefined)[];
}

export interface RawConfig {
  readonly version: string | null;
  readonly state_dir: string;
  readonly memory: { readonly budget_mb: number };
  readonly shutdown: { readonly grace_seconds: number };
  readonly store: { readonly kind: 'memory' | 'sqlite'; readonly durability: 'process' | 'power' };
  readonly retention: {
    readonly runs: number;
    readonly results: number;
    readonly result_ttl_hours: number;
    readonly dead_letters: number;
    readonly max_mb: number;
    readonly result_files_mb: number;
  };
  readonly pools: {
    readonly cpu: { readonly threads: number | 'auto'; readonly idle_seconds: number };
    readonly io: {
      readonly slots?: number | 'measured';
      readonly wait_ms?: number;
      readonly compute_ms?: number;
    };
  };
  readonly queues: {
    readonly ready: {
      readonly capacity?: number;
      readonly backlog_per_second?: number;
      readonly tolerate_seconds?: number;
      readonly when_full: WhenFull;
      readonly high_water: number;
      readonly low_water: number;
      readonly ageing_seconds: number;
    };
    readonly delayed: { readonly capacity: number };
    readonly retry: { readonly capacity: number };
    readonly dead_letter: { readonly capacity: number; readonly when_full: 'drop-oldest' | 'drop-newest' };
  };
  readonly concurrency?: number;
  readonly groups: Readonly<Record<string, RawGroup>>;
  readonly metrics: { readonly listen: string | null } | null;
  readonly log: {
    readonly level: LogLevel;
    readonly file: string | null;
    readonly max_mb: number;
    readonly keep_days: number;
  };
  readonly handlers: readonly (string | undefined)[];
  readonly defaults: RawShared;
  readonly tasks: readonly (RawTask | undefined)[];
  readonly flows: readonly (RawFlow | undefined)[];
}
