/**
 * The metrics page. `METRICS` is the table of all names (a test holds `docs/metrics.md` against it); the values
 * are read when the page is asked for: runs from the counters of this thread, the rest from main's view. Without
 * a view, because main does not answer, its metrics are left out and the others still shown.
 */
import Registry, { type MetricSample } from 'prom-client/lib/registry.js';
import type { LoopDelay } from '../kernel/index.ts';
import { MEMORY_STEPS, type RuntimeView } from '../protocol.ts';
import type { Histogram } from './histogram.ts';
import { OTHER_TASK, RUN_RESULTS, type RunCounters, type TaskCounters } from './run-counters.ts';

type MetricType = 'counter' | 'gauge' | 'histogram';
type Read = (scrape: Scrape) => MetricSample[];

/** What one scrape sees. */
export interface Scrape {
  readonly view: RuntimeView | null;
  readonly runs: RunCounters;
  readonly serviceDelay: LoopDelay;
  readonly log: { readonly dropped: number; readonly summarised: number; readonly errors: number };
  readonly configVersion: string | null;
  readonly configReloadOk: boolean;
  readonly uptimeSeconds: number;
}

interface MetricSpec {
  readonly type: MetricType;
  readonly labels: readonly string[];
  readonly help: string;
  readonly read: Read;
}

const perView = (read: (view: RuntimeView) => MetricSample[]): Read => {
  return ({ view }) => (view === null ? [] : read(view));
};
const perTask = (read: (task: TaskCounters) => number | null): Read => {
  return ({ runs }) =>
    Array.from(runs.all()).flatMap((task) => {
      const value = read(task);
      return value === null ? [] : [{ labels: task.labels, value }];
    });
};
const one = (value: number): MetricSample[] => [{ value }];

export const METRICS: Readonly<Record<string, MetricSpec>> = {
  colibri_runs_total: {
    type: 'counter',
    labels: ['task', 'result'],
    help: 'Runs that ended, by how they ended.',
    read: ({ runs }) => runsTotal(runs),
  },
  colibri_run_duration_seconds: {
    type: 'histogram',
    labels: ['task'],
    help: 'Time from the start of an attempt on its thread to its end.',
    read: ({ runs }) =>
      Array.from(runs.all()).flatMap((task) =>
        histogramSamples('colibri_run_duration_seconds', task.duration, task.labels),
      ),
  },
  colibri_run_duration_max_seconds: {
    type: 'gauge',
    labels: ['task'],
    help: 'Longest attempt since the daemon started.',
    read: perTask((task) => (task.duration.count === 0 ? null : task.maxDurationS)),
  },
  colibri_retries_total: {
    type: 'counter',
    labels: ['task'],
    help: 'Attempts that failed and are taken again.',
    read: perTask((task) => task.retries),
  },
  colibri_interrupted_total: {
    type: 'counter',
    labels: ['task'],
    help: 'Attempts that ended because the thread or the daemon under them did.',
    read: perTask((task) => task.interrupted),
  },
  colibri_last_success_timestamp_seconds: {
    type: 'gauge',
    labels: ['task'],
    help: 'Wall time of the last success, seconds since 1970.',
    read: perTask((task) => (task.lastSuccessAtMs === null ? null : task.lastSuccessAtMs / 1000)),
  },
  colibri_schedule_lag_seconds: {
    type: 'histogram',
    labels: [],
    help: 'How late a run started after it was due.',
    read: ({ runs }) => histogramSamples('colibri_schedule_lag_seconds', runs.lag, NO_LABELS),
  },
  colibri_queue_depth: {
    type: 'gauge',
    labels: ['queue'],
    help: 'Entries in the queue.',
    read: perView((view) => view.queues.map((q) => ({ labels: { queue: q.name }, value: q.depth }))),
  },
  colibri_queue_capacity: {
    type: 'gauge',
    labels: ['queue'],
    help: 'Entries the queue has room for.',
    read: perView((view) => view.queues.map((q) => ({ labels: { queue: q.name }, value: q.capacity }))),
  },
  colibri_queue_rejected_total: {
    type: 'counter',
    labels: ['queue'],
    help: 'Entries that were refused or dropped because the queue was full.',
    read: perView((view) => view.queues.map((q) => ({ labels: { queue: q.name }, value: q.rejected }))),
  },
  colibri_dead_letters: {
    type: 'gauge',
    labels: [],
    help: 'Runs that failed for good and wait for a replay or a purge.',
    read: perView((view) =>
      view.queues.filter((q) => q.name === 'dead-letter').map((q) => ({ value: q.depth })),
    ),
  },
  colibri_live_runs: {
    type: 'gauge',
    labels: [],
    help: 'Runs that have not ended.',
    read: perView((view) => one(view.liveRuns)),
  },
  colibri_active_runs: {
    type: 'gauge',
    labels: ['pool'],
    help: 'Runs that are being executed.',
    read: perView((view) => view.pools.map((p) => ({ labels: { pool: p.name }, value: p.active }))),
  },
  colibri_pool_slots: {
    type: 'gauge',
    labels: ['pool'],
    help: 'Runs that the pool can execute at once.',
    read: perView((view) => view.pools.map((p) => ({ labels: { pool: p.name }, value: p.slots }))),
  },
  colibri_pool_threads: {
    type: 'gauge',
    labels: ['pool'],
    help: 'Threads the pool has now.',
    read: perView((view) => view.pools.map((p) => ({ labels: { pool: p.name }, value: p.threads }))),
  },
  colibri_pool_busy_ratio: {
    type: 'gauge',
    labels: ['pool'],
    help: 'Share of slot time in use over the last interval, 0 to 1.',
    read: perView((view) => view.pools.map((p) => ({ labels: { pool: p.name }, value: p.busyRatio }))),
  },
  colibri_late_outcomes_total: {
    type: 'counter',
    labels: [],
    help: 'Outcomes that came after their run had been given up; they are ignored.',
    read: perView((view) => one(view.lateOutcomes)),
  },
  colibri_undeliverable_total: {
    type: 'counter',
    labels: ['reason'],
    help: 'Messages between actors that did not reach their receiver, by reason.',
    read: perView((view) =>
      Object.entries(view.undeliverable).map(([reason, value]) => ({ labels: { reason }, value })),
    ),
  },
  colibri_event_loop_delay_seconds: {
    type: 'gauge',
    labels: ['thread', 'quantile'],
    help: 'How late the event loop of a thread fires its timers, since the last scrape; quantile 1 is the maximum.',
    read: ({ view, serviceDelay }) => [
      ...(view === null ? [] : delaySamples('main', view.loopDelay)),
      ...delaySamples('service', serviceDelay),
    ],
  },
  colibri_thread_restarts_total: {
    type: 'counter',
    labels: ['thread'],
    help: 'Threads that were replaced after they were lost or had to be ended.',
    read: perView((view) =>
      Object.entries(view.threadRestarts).map(([thread, value]) => ({ labels: { thread }, value })),
    ),
  },
  colibri_memory_bytes: {
    type: 'gauge',
    labels: ['kind'],
    help: 'Memory of the whole process: rss = anon (heap, stacks) + file (mapped, given back on demand).',
    read: perView(({ memory }) =>
      (['rss', 'anon', 'file'] as const).map((kind) => ({ labels: { kind }, value: memory[kind] })),
    ),
  },
  colibri_memory_budget_bytes: {
    type: 'gauge',
    labels: [],
    help: 'What the whole process may hold, from the config.',
    read: perView(({ memory }) => one(memory.budget)),
  },
  colibri_memory_steps_total: {
    type: 'counter',
    labels: ['step'],
    help: 'What the memory governor did: release file pages, collect garbage, shrink (fewer cpu threads, no batches), grow.',
    read: perView(({ memory }) =>
      MEMORY_STEPS.map((step) => ({ labels: { step }, value: memory.steps[step] })),
    ),
  },
  colibri_main_answers: {
    type: 'gauge',
    labels: [],
    help: '1 where the main thread answered this scrape within a second, else 0.',
    read: ({ view }) => one(view === null ? 0 : 1),
  },
  colibri_log_lines_dropped_total: {
    type: 'counter',
    labels: [],
    help: 'Log lines lost because their device was slow, full or gone.',
    read: ({ log }) => one(log.dropped),
  },
  colibri_log_lines_summarised_total: {
    type: 'counter',
    labels: [],
    help: 'Log lines that were counted in a summary line and not written one by one.',
    read: ({ log }) => one(log.summarised),
  },
  colibri_log_write_errors_total: {
    type: 'counter',
    labels: [],
    help: 'Writes of the log that failed; they are tried again.',
    read: ({ log }) => one(log.errors),
  },
  colibri_config_info: {
    type: 'gauge',
    labels: ['version'],
    help: 'Always 1; the label is the version written in the config.',
    read: ({ configVersion }) => [{ labels: { version: configVersion ?? '' }, value: 1 }],
  },
  colibri_config_last_reload_success: {
    type: 'gauge',
    labels: [],
    help: '1 where the last reload was carried out, or there was none; 0 where it was refused: the config before is in use.',
    read: ({ configReloadOk }) => one(configReloadOk ? 1 : 0),
  },
  colibri_uptime_seconds: {
    type: 'gauge',
    labels: [],
    help: 'Time since the process started.',
    read: ({ uptimeSeconds }) => one(uptimeSeconds),
  },
};

const NO_LABELS: Readonly<Record<string, string>> = {};

export class Metrics {
  readonly #registry = new Registry();
  #scrape: Scrape | null = null;

  constructor() {
    for (const [name, spec] of Object.entries(METRICS)) {
      const { help, type } = spec;
      this.#registry.registerMetric({
        name,
        get: () => ({ name, help, type, values: this.#scrape === null ? [] : spec.read(this.#scrape) }),
      });
    }
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** One piece of text for each metric, so that the page never stands in memory as a whole. */
  async *render(scrape: Scrape): AsyncGenerator<string> {
    for (const metric of this.#registry.getMetricsAsArray()) {
      this.#scrape = scrape;
      const text = this.#registry.getMetricsAsString(metric);
      // `get` has run by now: another scrape may take its turn while this one waits for its reader.
      this.#scrape = null;
      yield `${await text}\n`;
    }
  }
}

function runsTotal(runs: RunCounters): MetricSample[] {
  const samples: MetricSample[] = [];
  const names = runs.get(OTHER_TASK) === undefined ? runs.names : [...runs.names, OTHER_TASK];
  for (const name of names) {
    const counters = runs.get(name);
    const labels = counters?.labels ?? { task: name };
    // A task that never ran shows zeros, so that a rate sees its first run.
    for (const result of RUN_RESULTS) {
      samples.push({ labels: { result }, sharedLabels: labels, value: counters?.[result] ?? 0 });
    }
  }
  return samples;
}

function histogramSamples(
  name: string,
  histogram: Histogram,
  labels: Readonly<Record<string, string>>,
): MetricSample[] {
  const samples: MetricSample[] = [];
  let below = 0;
  for (const [index, count] of histogram.counts.entries()) {
    below += count;
    const le = histogram.bounds[index] ?? '+Inf';
    samples.push({ metricName: `${name}_bucket`, labels: { le }, sharedLabels: labels, value: below });
  }
  samples.push({ metricName: `${name}_sum`, sharedLabels: labels, value: histogram.sum });
  samples.push({ metricName: `${name}_count`, sharedLabels: labels, value: histogram.count });
  return samples;
}

function delaySamples(thread: string, delay: LoopDelay): MetricSample[] {
  return [
    { labels: { thread, quantile: '0.5' }, value: delay.p50 },
    { labels: { thread, quantile: '0.99' }, value: delay.p99 },
    { labels: { thread, quantile: '1' }, value: delay.max },
  ];
}
