/** How the values of a metric are read out of a scrape: the forms that several metrics share. */
import type { MetricSample } from 'prom-client/lib/registry.js';
import type { LoopDelay } from '../kernel/index.ts';
import type { BoundView, RuntimeView } from '../views/runtime-view.ts';
import type { Histogram } from './histogram.ts';
import { OTHER_TASK, RUN_RESULTS, type RunCounters, type TaskCounters } from './run-counters.ts';

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

export type Read = (scrape: Scrape) => MetricSample[];

export const NO_LABELS: Readonly<Record<string, string>> = {};

/** Left out where main does not answer. */
export const perView = (read: (view: RuntimeView) => MetricSample[]): Read => {
  return ({ view }) => (view === null ? [] : read(view));
};
/** Of the tasks that have counted something. */
export const perTask = (read: (task: TaskCounters) => number | null): Read => {
  return ({ runs }) =>
    Array.from(runs.all()).flatMap((task) => {
      const value = read(task);
      return value === null ? [] : [{ labels: task.labels, value }];
    });
};
/** Of every task of the config, also one that never ran: a rate sees its first. */
export const perName = (read: (task: TaskCounters | undefined) => number): Read => {
  return ({ runs }) =>
    namesOf(runs).map((name) => {
      const counters = runs.get(name);
      return { labels: counters?.labels ?? { task: name }, value: read(counters) };
    });
};
export const one = (value: number): MetricSample[] => [{ value }];

export function runsTotal(runs: RunCounters): MetricSample[] {
  const samples: MetricSample[] = [];
  for (const name of namesOf(runs)) {
    const counters = runs.get(name);
    const labels = counters?.labels ?? { task: name };
    // A task that never ran shows zeros, so that a rate sees its first run.
    for (const result of RUN_RESULTS) {
      samples.push({ labels: { result }, sharedLabels: labels, value: counters?.[result] ?? 0 });
    }
  }
  return samples;
}

export function histogramSamples(
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

export function delaySamples(thread: string, delay: LoopDelay): MetricSample[] {
  return [
    { labels: { thread, quantile: '0.5' }, value: delay.p50 },
    { labels: { thread, quantile: '0.99' }, value: delay.p99 },
    { labels: { thread, quantile: '1' }, value: delay.max },
  ];
}

export function groupsOf({ bounds }: RuntimeView): readonly BoundView[] {
  return bounds.filter(({ kind }) => kind === 'group');
}

function namesOf(runs: RunCounters): readonly string[] {
  return runs.get(OTHER_TASK) === undefined ? [...runs.names] : [...runs.names, OTHER_TASK];
}
