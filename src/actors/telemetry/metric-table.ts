/**
 * The table of all metrics; a test holds `docs/metrics.md` against it. Values are read when the page is asked for: those of
 * runs from the counters of this thread, the rest from main's view.
 */
import { CLOCK_JUMPS, MEMORY_STEPS } from '../views/runtime-view.ts';
import {
  delaySamples,
  groupsOf,
  histogramSamples,
  NO_LABELS,
  one,
  perName,
  perTask,
  perView,
  type Read,
  runsTotal,
} from './metric-samples.ts';
import { RUN_RESULTS } from './run-counters.ts';

interface MetricSpec {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly help: string;
  readonly read: Read;
}

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
    help: 'Wall time of the last success, seconds since 1970. The journal keeps it over a restart.',
    read: perTask((task) => (task.lastSuccessAtMs === null ? null : task.lastSuccessAtMs / 1000)),
  },
  colibri_schedule_lag_seconds: {
    type: 'histogram',
    labels: [],
    help: 'How late a run started after it was due.',
    read: ({ runs }) => histogramSamples('colibri_schedule_lag_seconds', runs.lag, NO_LABELS),
  },
  colibri_occurrences_missed_total: {
    type: 'counter',
    labels: ['task'],
    help: 'Occurrences that came due unseen and were left out by the misfire policy; of a long absence at least so many.',
    read: perView((view) =>
      view.tasks.flatMap(({ name, missed }) =>
        missed === null ? [] : [{ labels: { task: name }, value: missed }],
      ),
    ),
  },
  colibri_clock_jumps_total: {
    type: 'counter',
    labels: ['kind'],
    help: 'Jumps of a second or more: the wall clock was set, the machine slept, the process stood still.',
    read: perView(({ clockJumps }) =>
      CLOCK_JUMPS.map((kind) => ({ labels: { kind }, value: clockJumps[kind] })),
    ),
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
  colibri_queue_high_water: {
    type: 'gauge',
    labels: ['queue'],
    help: '1 while the queue is so full that its sources wait: scans for ready and retry, the pools for the journal.',
    read: perView((view) =>
      view.pressures.map(({ queue, isHigh }) => ({ labels: { queue }, value: isHigh ? 1 : 0 })),
    ),
  },
  colibri_queue_high_water_total: {
    type: 'counter',
    labels: ['queue'],
    help: 'How often the queue became so full that its sources had to wait.',
    read: perView((view) => view.pressures.map(({ queue, rises }) => ({ labels: { queue }, value: rises }))),
  },
  colibri_held_back_runs: {
    type: 'gauge',
    labels: ['bound', 'name'],
    help: 'Ready runs that a bound of the config holds back: of all runs, of a group, of a task, of a key of a task.',
    read: perView((view) =>
      view.bounds.map(({ kind, name, held }) => ({ labels: { bound: kind, name }, value: held })),
    ),
  },
  colibri_group_active_runs: {
    type: 'gauge',
    labels: ['group'],
    help: 'Runs of the group that are being executed.',
    read: perView((view) =>
      groupsOf(view).map(({ name, active }) => ({ labels: { group: name }, value: active })),
    ),
  },
  colibri_group_concurrency: {
    type: 'gauge',
    labels: ['group'],
    help: 'Runs of the group that may be executed at once; left out for a group that has a rate alone.',
    read: perView((view) =>
      groupsOf(view).flatMap(({ name, concurrency }) =>
        concurrency === null ? [] : [{ labels: { group: name }, value: concurrency }],
      ),
    ),
  },
  colibri_dead_letters: {
    type: 'gauge',
    labels: [],
    help: 'Runs that failed for good and wait for a replay or a purge.',
    read: perView((view) =>
      view.queues.filter((q) => q.name === 'dead-letter').map((q) => ({ value: q.depth })),
    ),
  },
  colibri_dead_letters_total: {
    type: 'counter',
    labels: ['task'],
    help: 'Runs that failed for good and became dead letters.',
    read: perName((task) => task?.dead ?? 0),
  },
  colibri_store_writable: {
    type: 'gauge',
    labels: [],
    help: '1 where what happens is kept, 0 while the journal cannot be written: triggers are refused then.',
    read: perView(({ store }) => one(store.writable ? 1 : 0)),
  },
  colibri_store_unrecorded: {
    type: 'gauge',
    labels: [],
    help: 'Transitions of runs that the store has not acknowledged.',
    read: perView(({ store }) => one(store.unrecorded)),
  },
  colibri_live_runs: {
    type: 'gauge',
    labels: [],
    help: 'Runs that have not ended.',
    read: perView((view) => one(view.liveRuns)),
  },
  colibri_live_flows: {
    type: 'gauge',
    labels: ['flow'],
    help: 'Runs of the flow that have begun and are not over.',
    read: perView(({ flows }) => flows.map(({ name, live }) => ({ labels: { flow: name }, value: live }))),
  },
  colibri_flow_steps_total: {
    type: 'counter',
    labels: ['flow', 'result'],
    help: 'Steps of the flow that ended, by how they ended; a step over a list is one.',
    read: perView(({ flows }) =>
      flows.flatMap(({ name, steps }) =>
        RUN_RESULTS.map((result) => ({ labels: { flow: name, result }, value: steps[result] })),
      ),
    ),
  },
  colibri_live_flows_bytes: {
    type: 'gauge',
    labels: [],
    help: 'Memory that live flows take beside the runs of their steps.',
    read: perView(({ liveFlowsBytes }) => one(liveFlowsBytes)),
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
