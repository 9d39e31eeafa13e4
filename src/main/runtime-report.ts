/** Everything that main knows and others show, put together when it is asked for. */
import type { Flows } from '../actors/flow/index.ts';
import type { ActorSystem, Clock, LoopDelaySampler } from '../actors/kernel/index.ts';
import type { Runs } from '../actors/runs/index.ts';
import type { PoolView, RuntimeView, TaskView, TaskWindow } from '../actors/views/runtime-view.ts';
import type { CpuPool, InlinePool, IoPool } from '../workers/index.ts';
import type { Config, TaskSpec } from './config/index.ts';
import { type MemoryGovernor, readProcessMemory } from './memory/index.ts';
import type { Reloader } from './reload.ts';
import type { Router } from './router.ts';
import type { ClockWatch, Scheduler } from './schedule/index.ts';

export interface RuntimeReportOptions {
  readonly version: string;
  readonly config: Config;
  readonly clock: Clock;
  readonly watch: ClockWatch;
  readonly system: ActorSystem;
  readonly router: Router;
  readonly runs: Runs;
  readonly scheduler: Scheduler;
  readonly cpu: CpuPool;
  readonly io: IoPool;
  readonly guest: IoPool | null;
  readonly inline: InlinePool | null;
  readonly flows: Flows | null;
  readonly loopDelay: LoopDelaySampler;
  /** Null where the process is not the daemon's alone. */
  readonly governor: MemoryGovernor | null;
  readonly reloader: Reloader;
}

const NO_STEPS = { release: 0, collect: 0, shrink: 0, grow: 0 };
/** Of the undeliverable messages that are kept. */
const SHOWN_UNDELIVERABLE = 5;

export class RuntimeReport {
  readonly #options: RuntimeReportOptions;
  readonly #startedAtMs: number;
  /** Of the tasks that have one. */
  readonly #windows = new Map<string, TaskWindow>();
  /** Since exec; null until the daemon is ready. */
  readyMs: number | null = null;
  #cpuRestarts = 0;

  constructor(options: RuntimeReportOptions) {
    this.#options = options;
    this.#startedAtMs = options.clock.wallMs();
    for (const task of options.config.tasks) {
      const window = windowOf(task);
      if (window !== null) this.#windows.set(task.name, window);
    }
  }

  countCpuRestart(): void {
    this.#cpuRestarts++;
  }

  view(stopping: boolean): RuntimeView {
    const {
      version,
      config,
      watch,
      system,
      router,
      runs,
      io,
      guest,
      inline,
      flows,
      loopDelay,
      governor,
      reloader,
    } = this.#options;
    return {
      pid: process.pid,
      version,
      configVersion: reloader.config.version,
      configFile: config.file,
      startedAtMs: this.#startedAtMs,
      readyMs: this.readyMs,
      stopping,
      queues: runs.figures.queues(),
      pools: this.#pools(),
      bounds: runs.figures.bounds(),
      pressures: runs.figures.pressures(),
      tasks: [...runs.table.tasks].map((task) => this.#task(task)),
      liveRuns: runs.table.size,
      flows: flows?.counts() ?? [],
      liveFlowsBytes: flows?.heldBytes ?? 0,
      threadRestarts: {
        cpu: this.#cpuRestarts,
        ...Object.fromEntries([...router.links].map((link) => [link.name, link.stats.restarts])),
      },
      clockJumps: { ...watch.counts },
      loopDelay: loopDelay.look(),
      undeliverable: { ...system.undeliverable.counts },
      lastUndeliverable: system.undeliverable
        .recent()
        .slice(-SHOWN_UNDELIVERABLE)
        .map(({ atMs, reason, envelope: { kind, from, to } }) => ({ atMs, reason, kind, from, to })),
      memory: {
        ...readProcessMemory(),
        budget: config.memory.budgetBytes,
        steps: governor?.steps ?? NO_STEPS,
      },
      lateOutcomes:
        runs.lateOutcomes + io.lateOutcomes + (guest?.lateOutcomes ?? 0) + (inline?.lateOutcomes ?? 0),
      configReloadOk: reloader.ok,
      store: this.#store(),
    };
  }

  #store(): RuntimeView['store'] {
    const { config, runs } = this.#options;
    const { unrecorded, trouble } = runs.journal;
    return { kind: config.store.kind, writable: trouble === null, unrecorded, reason: trouble };
  }

  #pools(): PoolView[] {
    const { cpu, io, guest, inline } = this.#options;
    return [
      {
        name: cpu.name,
        slots: cpu.slots,
        active: cpu.active,
        threads: cpu.threadCount,
        busyRatio: cpu.busyRatio,
      },
      ...[io, guest, inline]
        .filter((pool) => pool !== null)
        .map((pool) => ({
          name: pool.name,
          slots: pool.slots,
          active: pool.active,
          threads: 1,
          busyRatio: pool.busyRatio,
        })),
    ];
  }

  #task(task: Runs['table']['tasks'] extends Iterable<infer Task> ? Task : never): TaskView {
    const { spec } = task;
    const { scheduler } = this.#options;
    return {
      name: spec.name,
      kind: spec.kind,
      handler: spec.handler,
      group: spec.group,
      schedule: spec.scheduleText,
      window: this.#windows.get(spec.name) ?? null,
      nextAtMs: scheduler.nextOf(spec.name),
      missed: spec.scheduleText === null ? null : scheduler.missedOf(spec.name),
      active: task.active,
      queued: task.queued,
      lastState: task.lastState,
      lastEndedAtMs: task.lastEndedAtMs,
    };
  }
}

function windowOf({ schedule, splayMs }: TaskSpec): TaskWindow | null {
  if (schedule === null || (schedule.bounds === undefined && splayMs === 0)) return null;
  const { startAtMs = null, stopAtMs = null, exclude = [] } = schedule.bounds ?? {};
  return { startAtMs, stopAtMs, excluded: exclude.length, splayMs };
}
