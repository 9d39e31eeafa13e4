/**
 * The one place where everything is wired: made from the config here, or by the files beside it that make the pools, the links
 * to threads, the governor and the flows; started and stopped by the daemon. Nothing runs yet when `wireDaemon` returns.
 *
 *   scheduler ─▶ runs ─▶ pools ─▶ threads        router ─▶ links ─▶ threads
 */
import type { Flows, FlowsOptions } from '../actors/flow/index.ts';
import {
  type ActorRef,
  ActorSystem,
  type Clock,
  Delivery,
  GarbageCollector,
  LoopDelaySampler,
  systemClock,
} from '../actors/kernel/index.ts';
import {
  ActorName,
  type LogRecord,
  type StoreMessages,
  type TelemetryMessages,
  ThreadName,
} from '../actors/protocol.ts';
import { occurrenceId, Runs, runsActor, runsByteLimits } from '../actors/runs/index.ts';
import type { RuntimeView } from '../actors/views/runtime-view.ts';
import type { Pool } from '../workers/index.ts';
import type { Config } from './config/index.ts';
import { createFlows } from './create-flows.ts';
import { createGovernor } from './create-governor.ts';
import type { EarlyStart } from './early-start.ts';
import type { Embedded } from './embedded.ts';
import type { MemoryGovernor } from './memory/index.ts';
import { PLACEMENT } from './placement.ts';
import { createPools, type Pools } from './pools.ts';
import { Reloader, type ReloadSource } from './reload.ts';
import { Router } from './router.ts';
import { flowTask, runsTask } from './runs-tasks.ts';
import { RuntimeReport } from './runtime-report.ts';
import { CLOCK_JUMP_LINES, ClockWatch, Scheduler, Shifts } from './schedule/index.ts';
import { SizeReport } from './size-report.ts';
import { createThreadLink } from './thread-links.ts';
import { createShared } from './thread-settings.ts';

export interface WiringOptions {
  readonly config: Config;
  readonly version: string;
  /** Of the schedule, the runs and the functions of the program; threads and messages go by the machine's. */
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly pretty: boolean;
  readonly colours: boolean;
  readonly early: EarlyStart | null;
  readonly embedded?: Embedded | null;
  /** Given where the config has flows. */
  readonly createFlows?: ((options: FlowsOptions) => Flows) | null;
  readonly log: (level: LogRecord['level'], msg: string, fields?: LogRecord['fields']) => void;
  readonly view: () => RuntimeView;
  readonly configSource: ReloadSource | null;
  /** Something that cannot be mended from inside. */
  readonly onFatal: (message: string, cause: unknown) => void;
  /** A thread is there again after a loss: what was told to the last one has to be told again. */
  readonly onRestarted: (thread: ThreadName) => void;
}

export interface Wiring extends Omit<Pools, 'scan'> {
  readonly system: ActorSystem;
  readonly router: Router;
  readonly telemetry: ActorRef<TelemetryMessages>;
  readonly store: ActorRef<StoreMessages>;
  readonly runs: Runs;
  /** All of them, also those with a name. */
  readonly pools: readonly Pool[];
  /** Only where the config has any. */
  readonly flows: Flows | null;
  readonly scheduler: Scheduler;
  readonly loopDelay: LoopDelaySampler;
  /** Null where the process is not the daemon's alone. */
  readonly governor: MemoryGovernor | null;
  readonly report: RuntimeReport;
}

export function wireDaemon(options: WiringOptions): Wiring {
  const { config, clock, early, log, embedded = null } = options;
  const router = new Router();
  const shared = createShared(config, embedded !== null);
  const system = new ActorSystem({
    thread: ThreadName.Main,
    placement: PLACEMENT,
    remote: router,
    onEscalate: (actor, error) => options.onFatal(`actor ${actor} failed too often`, error),
  });
  const telemetry = system.ref<TelemetryMessages>(ActorName.Telemetry);
  const store = system.ref<StoreMessages>(ActorName.Store);
  const watch = new ClockWatch(clock, (kind, sizeMs) => {
    const level = kind === 'suspend' ? 'info' : 'warn';
    log(level, CLOCK_JUMP_LINES[kind], { seconds: Math.round(sizeMs) / 1000 });
  });
  const runs: Runs = new Runs({
    clock,
    watch,
    random: options.random,
    tasks: [...config.tasks.map(runsTask), ...config.flows.map(flowTask)],
    groups: config.groups,
    bounds: { concurrency: config.concurrency, ageingMs: config.queues.ready.ageingMs },
    queues: config.queues,
    byteLimits: runsByteLimits(config.memory.budgetBytes),
    durable: config.store.kind !== 'memory',
    far:
      config.store.kind === 'memory'
        ? null
        : {
            page: (after) => store.ask('delayed', { after }),
            find: (run) => store.ask('delayed-run', { run }),
          },
    flows:
      config.flows.length === 0
        ? null
        : {
            onStep: (run) => flows?.onStep(run),
            limitsOf: (run, flow) => flows?.limitsOf(run, flow) ?? null,
          },
    record(batch) {
      const isSent = store.tryTell('record', batch) === Delivery.Delivered;
      if (isSent) embedded?.onRecorded(batch);
      return isSent;
    },
    onPressure(queue, isHigh, share) {
      const fields = { queue, full: Math.round(share * 100) / 100 };
      if (isHigh) log('warn', 'queue is nearly full, its sources wait', fields);
      else log('info', 'queue has room again, its sources go on', fields);
    },
    warn: (message, fields) => log('warn', message, fields),
  });
  const { cpu, io, scan, guest, inline } = createPools({
    config,
    clock,
    embedded,
    system,
    router,
    telemetry,
    runs,
    shared,
    onThreadStarts: () => governor?.threadStarts(),
    onThreadLost(cause, fields) {
      report.countCpuRestart();
      log('warn', 'thread lost', { thread: 'cpu', error: cause.message, ...fields });
    },
  });
  const linkParts = { ...options, system, router, shared };
  router.add(createThreadLink(ThreadName.Service, [io, scan], linkParts));
  if (guest !== null) router.add(createThreadLink(ThreadName.Guest, [guest], linkParts));
  const pools: readonly Pool[] = [cpu, io, scan, guest, inline].filter((pool) => pool !== null);
  for (const pool of pools) runs.attachPool(pool);
  const flows = createFlows({ config, clock, runs, store, log, createFlows: options.createFlows ?? null });
  if (flows !== null) runs.attachPool(flows);
  const scheduled = [...config.tasks, ...config.flows];
  const shifts = new Shifts(scheduled);
  const scheduler = new Scheduler({
    clock,
    watch,
    tasks: scheduled,
    onDue({ task, occurrenceMs: dueAtMs, origin, catchUp }) {
      const shift = origin === 'schedule' ? shifts.of(task, dueAtMs) : null;
      if (shift !== null) log('info', 'occurrence shifted', { ...shift });
      runs.due({ task, id: occurrenceId(task, dueAtMs), dueAtMs, origin, catchUp });
    },
    onMissed: (task, { missed, more }) => log('warn', 'occurrences missed', { task, missed, more }),
    onLost: (task) => log('error', 'no next occurrence found, trying again in an hour', { task }),
    onEnded: (task, stopAtMs) =>
      log('info', 'schedule has ended', { task, stop_at: new Date(stopAtMs).toISOString() }),
  });
  const loopDelay = new LoopDelaySampler(systemClock);
  const collector = new GarbageCollector();
  const governor =
    early === null
      ? null
      : createGovernor({
          config,
          native: early.native,
          collector,
          short: shared.short,
          router,
          runs,
          pools,
          cpu,
          log,
        });
  const { version } = options;
  const tidy = early === null ? () => {} : () => collector.collect();
  const reloader = new Reloader({
    config,
    source: options.configSource,
    onBounds(fresh) {
      const { concurrency, groups, queues, tasks } = fresh;
      runs.rebound({ concurrency, groups, ageingMs: queues.ready.ageingMs }, tasks.map(runsTask));
    },
    log,
    tidy,
  });
  const size = new SizeReport({ config, system, router, runs, cpu, io, governor, flows });
  const report = new RuntimeReport({
    version,
    config,
    clock,
    watch,
    system,
    router,
    runs,
    scheduler,
    cpu,
    io,
    guest,
    inline,
    flows,
    loopDelay,
    governor,
    reloader,
  });
  system.spawn(
    runsActor({
      runs,
      settle(pool, outcomes) {
        for (const outcome of outcomes) {
          if (pool === guest?.name) guest.settle(outcome);
          else if (scan.holds(outcome.run)) scan.settle(outcome);
          else io.settle(outcome);
        }
      },
      view: options.view,
      size: () => size.view(),
      reload: () => reloader.reload(),
      flows,
    }),
  );
  return {
    system,
    router,
    telemetry,
    store,
    runs,
    pools,
    cpu,
    io,
    guest,
    inline,
    flows,
    scheduler,
    loopDelay,
    governor,
    report,
  };
}
