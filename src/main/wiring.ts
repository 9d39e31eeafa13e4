/**
 * The one place where everything is wired: made here, started and stopped by the daemon. Nothing runs yet when
 * `wireDaemon` returns.
 *
 *   scheduler ─▶ runs ─▶ pools ─▶ threads        router ─▶ links ─▶ threads
 */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Flows, FlowsOptions } from '../actors/flow/index.ts';
import {
  type ActorRef,
  ActorSystem,
  type Clock,
  ColibriError,
  Delivery,
  GarbageCollector,
  LoopDelaySampler,
  MemoryShort,
  SharedMark,
  systemClock,
  ThreadLink,
} from '../actors/kernel/index.ts';
import {
  ActorName,
  type IoMessages,
  type LogRecord,
  type StoreMessages,
  type TelemetryMessages,
  ThreadName,
} from '../actors/protocol.ts';
import { ResultFolder, type ResultFolderOptions } from '../actors/results/result-folder.ts';
import { ResultRoom } from '../actors/results/result-room.ts';
import { occurrenceId, Runs, runsActor, runsByteLimits } from '../actors/runs/index.ts';
import type { RuntimeView } from '../actors/views/runtime-view.ts';
import {
  BegunRun,
  blockedBy,
  blockedFields,
  CpuPool,
  endProcessesOf,
  type HostSettings,
  type InlinePool,
  IoPool,
  MEASURED_MAX_SLOTS,
  MeasuredSizing,
  type Pool,
  startThread,
  threadFile,
} from '../workers/index.ts';
import type { Config, LoadedConfig } from './config/index.ts';
import { type EarlyStart, HOST_LIMITS } from './early-start.ts';
import type { Embedded } from './embedded.ts';
import {
  findReleasableRanges,
  historyBytes,
  MemoryGovernor,
  type PageRange,
  readProcessMemory,
  setOptimising,
} from './memory/index.ts';
import { PLACEMENT } from './placement.ts';
import { Reloader } from './reload.ts';
import { Router } from './router.ts';
import { flowTask, runsTask } from './runs-tasks.ts';
import { RuntimeReport } from './runtime-report.ts';
import { CLOCK_JUMP_LINES, ClockWatch, Scheduler, Shifts } from './schedule/index.ts';
import { SizeReport } from './size-report.ts';

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
  readonly loadConfig: (() => Promise<LoadedConfig>) | null;
  /** Something that cannot be mended from inside. */
  readonly onFatal: (message: string, cause: unknown) => void;
  /** A thread is there again after a loss: what was told to the last one has to be told again. */
  readonly onRestarted: (thread: ThreadName) => void;
}

export interface Wiring {
  readonly system: ActorSystem;
  readonly router: Router;
  readonly telemetry: ActorRef<TelemetryMessages>;
  readonly store: ActorRef<StoreMessages>;
  readonly runs: Runs;
  /** All of them, also those named below. */
  readonly pools: readonly Pool[];
  readonly cpu: CpuPool;
  readonly io: IoPool;
  /** Only where some task needs it. */
  readonly guest: IoPool | null;
  /** Only in a program that has functions as tasks. */
  readonly inline: InlinePool | null;
  /** Only where the config has any. */
  readonly flows: Flows | null;
  readonly scheduler: Scheduler;
  readonly loopDelay: LoopDelaySampler;
  /** Null where the process is not the daemon's alone. */
  readonly governor: MemoryGovernor | null;
  readonly report: RuntimeReport;
}

/** Between telling a run to stop and stopping it by force. */
const GRACE_MS = { cpu: 500, io: 1000, scan: 1000, guest: 400 } as const;
/**
 * A user's module may cost its thread again and again: each run that does so ends with its own budget, and only a
 * thread that cannot live at all ends the daemon.
 */
const GUEST_RESTARTS = { maxRestarts: 600, withinMs: 60_000 };
/** Scans at one time; they are bound by the disk. */
const SCAN_SLOTS = 2;

export function wireDaemon(options: WiringOptions): Wiring {
  const { config, clock, log, embedded = null } = options;
  const router = new Router();
  const mark = new SharedMark();
  const short = new MemoryShort();
  const begun = new BegunRun();
  const results = resultFolder(options);
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
  const cpu = createCpuPool();
  const io = createIoPool('io', ThreadName.Service);
  const scan = createIoPool('scan', ThreadName.Service);
  const guest = config.tasks.some((task) => task.pool === 'guest')
    ? createIoPool('guest', ThreadName.Guest)
    : null;
  const inline =
    embedded?.createPool({
      source: runs.source('inline'),
      slots: config.pools.io.slots,
      clock,
      mark,
      results: results === null ? null : new ResultFolder(results),
      onOutcome: (outcome) => runs.outcome(outcome),
      onLog: (record) => void telemetry.tryTell('log', record),
      onProgress: (run, fraction, note) => runs.progress({ run, fraction, note }),
    }) ?? null;
  addLink(ThreadName.Service, [io, scan]);
  if (guest !== null) addLink(ThreadName.Guest, [guest]);
  const pools: readonly Pool[] = [cpu, io, scan, guest, inline].filter((pool) => pool !== null);
  for (const pool of pools) runs.attachPool(pool);
  const flows = createFlows();
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
  const governor = options.early === null ? null : createGovernor(options.early);
  const { version } = options;
  const tidy = options.early === null ? () => {} : () => collector.collect();
  const reloader = new Reloader({
    config,
    load: options.loadConfig,
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

  function createFlows(): Flows | null {
    if (config.flows.length === 0) return null;
    const create = options.createFlows;
    if (create == null)
      throw new ColibriError('internal', 'expected createFlows with a config that has flows');
    return create({
      clock,
      flows: config.flows,
      tasks: new Set(config.tasks.map(({ name }) => name)),
      runs,
      store: {
        steps: (place) => store.ask('flow-steps', place),
        results: async (of) => (await store.ask('results', { runs: of })).results,
        kept: async (of) => (await store.ask('kept-results', { runs: of })).runs,
        list: (filter) => store.ask('list', filter),
        show: (run) => store.ask('show', { run }),
        part: (file, path) => store.ask('result-part', { file, path }),
        judge: (file, expectation, lastGood) => store.ask('judge-result', { file, expectation, lastGood }),
      },
      budgetBytes: config.memory.budgetBytes,
      log,
    });
  }

  function addLink(name: ThreadName, held: readonly IoPool[]): void {
    router.add(
      new ThreadLink({
        name,
        file: (start) =>
          (name === ThreadName.Service ? options.early?.takeService(start) : null) ??
          startThread('host', start),
        workerData: { settings: hostSettings(options, { mark, short, begun, results }) },
        resourceLimits: HOST_LIMITS,
        system,
        route: (thread, text) => router.send(thread, text),
        clock: systemClock,
        ...(name === ThreadName.Guest ? { restart: GUEST_RESTARTS } : {}),
        onLost(cause, sight) {
          const run = blockedBy(sight, name === ThreadName.Guest ? begun.run : null);
          const inFlight = held.flatMap((pool) => pool.inFlight);
          const fields = blockedFields(sight, run, inFlight);
          log('error', 'thread lost', { thread: name, error: cause.message, ...fields });
          begun.leave();
          for (const pool of held) pool.threadLost(cause, run);
        },
        onRestarted() {
          for (const pool of held) pool.threadReady();
          options.onRestarted(name);
        },
        onEscalate: (error) => options.onFatal(`thread ${name} cannot be kept running`, error),
      }),
    );
  }

  function createGovernor({ native: loaded }: EarlyStart): MemoryGovernor {
    const native = 'native' in loaded ? loaded.native : null;
    let ranges: readonly PageRange[] = [];
    if ('missing' in loaded)
      log('warn', 'memory is not given back to the system', { reason: loaded.missing });
    return new MemoryGovernor({
      clock: systemClock,
      budgetBytes: config.memory.budgetBytes,
      readMemory: readProcessMemory,
      heldBytes: () => collector.heldBytes(),
      threadCollections: () => [...router.links].reduce((sum, link) => sum + link.collections, 0),
      runsUserCode: config.modules.length > 0,
      ended: () => runs.ended,
      active: () => pools.reduce((sum, pool) => sum + pool.active, 0),
      hands: {
        mapSingly() {
          if (native === null) return;
          ranges = findReleasableRanges();
          native.mapSingly(ranges);
        },
        releasePages: () => {
          for (const range of ranges) native?.release(range);
        },
        trim: () => native?.trim(),
        setOptimising,
        collect: () => collector.collect(),
        setShort(isShort) {
          short.isShort = isShort;
        },
        collectThreads() {
          for (const link of router.links) link.collect();
        },
      },
      cpu: {
        get threads() {
          return cpu.slots;
        },
        maxThreads: config.pools.cpu.threads,
        get running() {
          return cpu.threadCount;
        },
        setThreads: (threads) => cpu.resize(threads),
        setNarrow: (narrow) => cpu.setNarrow(narrow),
      },
      warn: (message, fields) => log('warn', message, fields),
    });
  }

  function createCpuPool(): CpuPool {
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
      onThreadStarts: () => governor?.threadStarts(),
      onThreadLost(cause, fields) {
        report.countCpuRestart();
        log('warn', 'thread lost', { thread: 'cpu', error: cause.message, ...fields });
      },
    });
  }

  function createIoPool(name: 'io' | 'guest' | 'scan', thread: ThreadName): IoPool {
    const { sizing, slots, waitMs, computeMs } = config.pools.io;
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
}

/** Null: there is no folder, or none is wanted. Half of its room is for results of the past, the rest for those that are in use. */
function resultFolder({ config, embedded }: WiringOptions): ResultFolderOptions | null {
  const { stateDir, retention, store } = config;
  const hasFolder = embedded == null || store.kind !== 'memory';
  if (retention.resultFilesBytes === 0 || !hasFolder) return null;
  const { memory } = new ResultRoom(retention.resultFilesBytes);
  return { dir: join(stateDir, 'results'), capacityBytes: retention.resultFilesBytes, room: memory };
}

/** What threads share with main. */
interface Shared {
  readonly mark: SharedMark;
  readonly short: MemoryShort;
  readonly begun: BegunRun;
  readonly results: ResultFolderOptions | null;
}

function hostSettings(
  { config, pretty, colours }: WiringOptions,
  { mark, short, begun, results }: Shared,
): HostSettings {
  const { sizing, slots } = config.pools.io;
  return {
    telemetry: {
      log: { ...config.log, pretty, colours },
      metrics: config.metrics,
      configVersion: config.version,
      tasks: [...config.tasks, ...config.flows].map(({ name }) => name),
    },
    store: {
      ...config.store,
      file: join(config.stateDir, 'journal.db'),
      retention: {
        ...config.retention,
        maxBytes: historyBytes(config),
        fileBytes: Math.floor(config.retention.resultFilesBytes / 2),
      },
    },
    mark: mark.memory,
    short: short.memory,
    control: { socketPath: join(config.stateDir, 'control.sock') },
    io: { maxSlots: SCAN_SLOTS + (sizing === 'measured' ? MEASURED_MAX_SLOTS : slots) },
    results,
    modules: config.modules,
    begun: begun.memory,
  };
}
