/**
 * The pools of main, made from the config: how many slots each has, and how long its runs may take to stop. Each takes its work
 * from the runs and gives them the outcomes.
 */
import { availableParallelism } from 'node:os';
import { type ActorRef, type ActorSystem, type Clock, systemClock } from '../actors/kernel/index.ts';
import { ActorName, type IoMessages, type TelemetryMessages, ThreadName } from '../actors/protocol.ts';
import { ResultFolder } from '../actors/results/result-folder.ts';
import type { Runs } from '../actors/runs/index.ts';
import {
  CpuPool,
  type CpuPoolOptions,
  endProcessesOf,
  type InlinePool,
  IoPool,
  MeasuredSizing,
  threadFile,
} from '../workers/index.ts';
import type { Config } from './config/index.ts';
import type { Embedded } from './embedded.ts';
import type { Router } from './router.ts';
import { SCAN_SLOTS, type Shared } from './thread-settings.ts';

export interface PoolsOptions extends Pick<CpuPoolOptions, 'onThreadStarts' | 'onThreadLost'> {
  readonly config: Config;
  /** Of the functions of the program; the other pools go by the machine's. */
  readonly clock: Clock;
  readonly embedded: Embedded | null;
  readonly system: ActorSystem;
  readonly router: Router;
  readonly telemetry: ActorRef<TelemetryMessages>;
  readonly runs: Runs;
  readonly shared: Shared;
}

export interface Pools {
  readonly cpu: CpuPool;
  readonly io: IoPool;
  readonly scan: IoPool;
  /** Only where some task needs it. */
  readonly guest: IoPool | null;
  /** Only in a program that has functions as tasks. */
  readonly inline: InlinePool | null;
}

/** Between telling a run to stop and stopping it by force. */
const GRACE_MS = { cpu: 500, io: 1000, scan: 1000, guest: 400 } as const;

export function createPools(options: PoolsOptions): Pools {
  const hasGuest = options.config.tasks.some((task) => task.pool === 'guest');
  return {
    cpu: createCpuPool(options),
    io: createIoPool('io', options),
    scan: createIoPool('scan', options),
    guest: hasGuest ? createIoPool('guest', options) : null,
    inline: createInlinePool(options),
  };
}

function createCpuPool(options: PoolsOptions): CpuPool {
  const { config, runs, telemetry, onThreadStarts, onThreadLost } = options;
  const { mark, short, results } = options.shared;
  return new CpuPool({
    workerFile: threadFile('cpu-worker'),
    threads: config.pools.cpu.threads,
    idleMs: config.pools.cpu.idleMs,
    graceMs: GRACE_MS.cpu,
    source: runs.source('cpu'),
    workerData: { modules: config.modules, mark: mark.memory, short: short.memory, results },
    clock: systemClock,
    onOutcome: (outcome) => runs.outcome(outcome),
    onLog: (record) => void telemetry.tryTell('log', record),
    onProgress: (run, fraction, note) => runs.progress({ run, fraction, note }),
    onThreadStarts,
    onThreadLost,
  });
}

function createIoPool(name: 'io' | 'guest' | 'scan', options: PoolsOptions): IoPool {
  const { config, system, router, runs } = options;
  const { sizing, slots, waitMs, computeMs } = config.pools.io;
  const thread = name === 'guest' ? ThreadName.Guest : ThreadName.Service;
  const measured = { cores: availableParallelism(), waitMs, computeMs };
  return new IoPool({
    name,
    actor: system.ref<IoMessages>(name === 'guest' ? ActorName.Guest : ActorName.Io),
    source: runs.source(name),
    slots: name === 'scan' ? SCAN_SLOTS : slots,
    graceMs: GRACE_MS[name],
    clock: systemClock,
    onOutcome: (outcome) => runs.outcome(outcome),
    onStuck: (cause) => void router.link(thread)?.replace(cause),
    ...(name === 'io' ? { endProcesses: endProcessesOf } : {}),
    ...(sizing === 'measured' && name !== 'scan' ? { sizing: new MeasuredSizing(measured) } : {}),
  });
}

function createInlinePool(options: PoolsOptions): InlinePool | null {
  const { config, clock, embedded, runs, telemetry, shared } = options;
  if (embedded === null) return null;
  return embedded.createPool({
    source: runs.source('inline'),
    slots: config.pools.io.slots,
    clock,
    mark: shared.mark,
    results: shared.results === null ? null : new ResultFolder(shared.results),
    onOutcome: (outcome) => runs.outcome(outcome),
    onLog: (record) => void telemetry.tryTell('log', record),
    onProgress: (run, fraction, note) => runs.progress({ run, fraction, note }),
  });
}
