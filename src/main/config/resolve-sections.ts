/** The sections of the config that stand alone: pools, queues, metrics and user modules. */
import { describeValue } from '../../actors/kernel/check-schema.ts';
import { ioSlots } from '../../workers/index.ts';
import type { Config, IoPoolSpec } from './config.ts';
import type { RawConfig } from './raw-config.ts';
import type { ResolveScope } from './resolve-scope.ts';
import { splitGlob } from './split-glob.ts';
import { listModules, moduleName } from './user-modules.ts';

const MAX_IO_SLOTS = 1000;
const MAX_CPU_THREADS = 64;

export function resolveCpuPool(raw: RawConfig['pools']['cpu'], scope: ResolveScope): Config['pools']['cpu'] {
  const cores = Math.max(1, Math.trunc(scope.options.cores));
  const threads = raw.threads === 'auto' ? Math.min(cores, MAX_CPU_THREADS) : raw.threads;
  if (threads > cores) {
    const message = `expected at most ${cores}, the cores there are, got ${threads}: more threads only cost memory`;
    scope.problems.warn(['pools', 'cpu', 'threads'], message);
  }
  return { threads, idleMs: Math.round(raw.idle_seconds * 1000) };
}

export function resolveIoPool(raw: RawConfig['pools']['io'], scope: ResolveScope): IoPoolSpec {
  const { slots, wait_ms: waitMs = 80, compute_ms: computeMs = 20 } = raw;
  const { cores } = scope.options;
  const byRatio = ioSlots({ cores, waitMs, computeMs, min: 1, max: MAX_IO_SLOTS });
  if (slots === undefined) return { sizing: 'ratio', slots: byRatio, waitMs, computeMs };
  if (slots === 'measured') return { sizing: 'measured', slots: byRatio, waitMs, computeMs };
  if (raw.wait_ms !== undefined || raw.compute_ms !== undefined) {
    const message = 'expected either a number of slots or wait_ms and compute_ms, got both; remove one';
    scope.problems.add(['pools', 'io', 'slots'], message, 'key');
  }
  return { sizing: 'fixed', slots, waitMs, computeMs };
}

/** capacity = backlog a second × seconds tolerated. */
export function resolveReadyQueue(
  raw: RawConfig['queues']['ready'],
  scope: ResolveScope,
): Config['queues']['ready'] {
  const { capacity, backlog_per_second: backlog = 500, tolerate_seconds: tolerate = 30 } = raw;
  const whenFull = raw.when_full;
  const { high_water: high, low_water: low } = raw;
  if (low >= high) {
    const message = `expected low_water to be less than high_water (${high}), got ${low}; lower it, or raise high_water`;
    scope.problems.add(['queues', 'ready', 'low_water'], message);
  }
  const rest = { whenFull, watermarks: { high, low }, ageingMs: Math.round(raw.ageing_seconds * 1000) };
  const product = Math.max(1, Math.ceil(backlog * tolerate));
  if (capacity === undefined) {
    if (product > 10_000_000) {
      const message = `expected backlog_per_second × tolerate_seconds to be at most 10000000, got ${product}`;
      scope.problems.add(['queues', 'ready'], message);
    }
    return {
      capacity: product,
      rates: { backlogPerSecond: backlog, tolerateSeconds: tolerate },
      ...rest,
    };
  }
  if (raw.backlog_per_second !== undefined || raw.tolerate_seconds !== undefined) {
    const message =
      'expected either capacity or backlog_per_second and tolerate_seconds, got both; remove one';
    scope.problems.add(['queues', 'ready', 'capacity'], message, 'key');
  }
  return { capacity, rates: null, ...rest };
}

/** `host:port`, `[ipv6]:port`. The endpoints have no password, so another host than loopback is a warning. */
export function resolveMetrics(raw: RawConfig['metrics'], scope: ResolveScope): Config['metrics'] {
  const listen = raw?.listen ?? null;
  if (listen === null) return null;
  const path = ['metrics', 'listen'];
  const parts = /^(?:\[([0-9A-Fa-f:.%\w]+)\]|([^\s:/[\]]+)):(\d{1,5})$/.exec(listen);
  const port = Number(parts?.[3]);
  if (parts === null || port > 65_535) {
    const message = `expected host:port such as 127.0.0.1:9464, with a port from 0 to 65535, or null, got ${describeValue(listen)}`;
    scope.problems.add(path, message);
    return null;
  }
  const host = parts[1] ?? parts[2]!;
  if (!/^(?:127(?:\.\d{1,3}){3}|::1|localhost)$/.test(host)) {
    const message = `expected a loopback address such as 127.0.0.1, got ${describeValue(host)}: anyone who reaches it can read the metrics`;
    scope.problems.warn(path, message);
  }
  return { host, port };
}

/** Name that tasks use → absolute path of the module. */
export function resolveModules(raw: RawConfig['handlers'], scope: ResolveScope): ReadonlyMap<string, string> {
  const list = scope.options.listModules ?? listModules;
  const byName = new Map<string, string>(scope.options.modules);
  for (const [index, written] of raw.entries()) {
    if (written === undefined) continue;
    const path = ['handlers', index];
    const glob = splitGlob(written, scope.options.directory);
    if ('problem' in glob) {
      scope.problems.add(path, `expected ${glob.problem}, got ${describeValue(written)}`);
      continue;
    }
    const found = list(glob);
    if (!found.complete)
      scope.problems.add(path, 'expected a glob over a folder of modules, got one over too many files');
    if (found.files.length === 0)
      scope.problems.warn(path, `expected a module file, got none that matches ${describeValue(written)}`);
    for (const file of found.files) addModule(byName, file, path, scope);
  }
  return byName;
}

function addModule(
  byName: Map<string, string>,
  file: string,
  path: (string | number)[],
  scope: ResolveScope,
): void {
  const name = moduleName(file);
  const other = byName.get(name);
  if (other === file) return;
  if (other !== undefined) {
    scope.problems.add(
      path,
      `expected each module to have a name of its own, got ${other} and ${file}; rename one`,
    );
  } else if (scope.builtIn(name) !== undefined) {
    scope.problems.add(path, `expected a module whose name no built-in handler has, got ${file}; rename it`);
  } else {
    byName.set(name, file);
  }
}
