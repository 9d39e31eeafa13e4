/** Configs of the measured daemons, and the jobs that go with them. */
import { makeCorpus } from './corpus.ts';
import type { Job } from './footprint-load.ts';

export const CRON_TASKS = 200;
export const IO_SLOTS = 50;
export const IO_RUN_MS = 1000;
export const READY_CAPACITY = 500;

const MIB = 1024 * 1024;

/** Cron schedules that do not come due for months, no two alike. */
export function distantSchedules(now = new Date()): string[] {
  const month = ((now.getMonth() + 6) % 12) + 1;
  return Array.from({ length: CRON_TASKS }, (_, index) => {
    return `${index % 60} ${index % 24} ${1 + (index % 28)} ${month} *`;
  });
}

/** 200 cron tasks, none due. */
export function cronTasks(): readonly object[] {
  return distantSchedules().map((schedule, index) => ({
    name: `mounted-${index}`,
    kind: index % 2 === 0 ? 'io' : 'cpu',
    handler: 'noop',
    schedule,
  }));
}

export interface LoadedConfig {
  readonly threads: number | 'auto';
  /** Null: what a config has that says nothing. */
  readonly budgetMb: number | null;
  readonly whenFull: 'block' | 'reject';
  readonly idleSeconds: number;
}

/** The mounted tasks, and those that the loads trigger. */
export function loadedConfig({
  threads,
  budgetMb,
  whenFull,
  idleSeconds,
}: LoadedConfig): Readonly<Record<string, unknown>> {
  const task = (name: string, handler: string, input: object) => ({
    name,
    handler,
    with: input,
    overlap: 'allow',
    max_retry: 0,
    timeout_seconds: 120,
  });
  return {
    ...(budgetMb === null ? {} : { memory: { budget_mb: budgetMb } }),
    shutdown: { grace_seconds: 125 },
    pools: { cpu: { threads, idle_seconds: idleSeconds }, io: { slots: IO_SLOTS } },
    queues: { ready: { capacity: READY_CAPACITY, when_full: whenFull } },
    tasks: [
      ...cronTasks(),
      task('hash', 'hash', { algorithm: 'sha256' }),
      task('zstd', 'compress', { algorithm: 'zstd', to: './out' }),
      task('gzip', 'compress', { algorithm: 'gzip', to: './out' }),
      task('wait', 'sleep', { ms: IO_RUN_MS }),
    ],
  };
}

export interface FileJobs {
  readonly hash: readonly Job[];
  /** zstd and gzip in turn. */
  readonly compress: readonly Job[];
  /** One hash to two that compress. */
  readonly mixed: readonly Job[];
}

/** Large enough that runs last some ten ms, so that threads are busy with work and not with triggers. */
export function makeFileJobs(root: string): FileJobs {
  const jobs = (task: string, paths: readonly string[]): Job[] =>
    paths.map((path) => ({ task, payload: { path } }));
  const noise = makeCorpus({ root, count: 4, bytes: 16 * MIB, content: 'noise' }).map(({ path }) => path);
  const text = makeCorpus({ root, count: 8, bytes: 8 * MIB, content: 'text' }).map(({ path }) => path);
  const hash = jobs('hash', noise);
  const [zstd, gzip] = [jobs('zstd', text), jobs('gzip', text)];
  const compress = zstd.flatMap((job, index) => [job, gzip[index]!]);
  return {
    hash,
    compress,
    mixed: zstd.flatMap((job, index) => [hash[index % hash.length]!, job, gzip[index]!]),
  };
}
