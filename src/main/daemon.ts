/**
 * The daemon: the one place where everything is wired.
 *
 *   stopped ─ start ─▶ starting ─▶ ready ─ stop ─▶ draining ─▶ aborting ─▶ stopped
 *                                            └──── kill ────────────────────┘
 *
 * Start: lock, threads, pools, control socket, schedule, `ready`. Stop: no new work, the schedule stands, what
 * runs may end within the grace, then it is aborted, then killed; the log is flushed; the lock goes last.
 */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import {
  type ActorRef,
  ActorSystem,
  type Clock,
  ColibriError,
  Delivery,
  LoopDelaySampler,
  systemClock,
  ThreadLink,
  toErrorData,
} from '../actors/kernel/index.ts';
import {
  ActorName,
  type ControlMessages,
  type IoMessages,
  type LogRecord,
  type RunsMessages,
  type RuntimeView,
  type StoreMessages,
  type TelemetryMessages,
  ThreadName,
} from '../actors/protocol.ts';
import { occurrenceId, Runs, runsActor } from '../actors/runs/index.ts';
import {
  CpuPool,
  type HostSettings,
  IoPool,
  MeasuredSizing,
  type Pool,
  threadFile,
} from '../workers/index.ts';
import type { Config } from './config/index.ts';
import { PLACEMENT } from './placement.ts';
import { Router } from './router.ts';
import { runsTask } from './runs-tasks.ts';
import { RuntimeReport } from './runtime-report.ts';
import { Scheduler } from './schedule/index.ts';
import { lockStateDir, type StateDirLock } from './state-dir.ts';

export interface DaemonOptions {
  readonly config: Config;
  readonly version: string;
  readonly clock?: Clock;
  /** In [0, 1). */
  readonly random?: () => number;
  /** Readable lines for a terminal in place of JSON. */
  readonly pretty?: boolean;
  readonly colours?: boolean;
  /** Something that cannot be mended from inside: the owner should stop the daemon. */
  readonly onFatal?: (error: ColibriError) => void;
}

/** The most an orderly end of a thread may take, once its pools are empty. */
const THREAD_STOP_MS = 500;
/** Of the grace, what is kept back for aborting and killing. */
const ABORT_SHARE_MS = 1500;
const RECORD_WAIT_MS = 300;
/** A stop that is not done so long after its grace is given up. */
const HARD_LIMIT_MS = 800;
const MEASURE_MS = 1000;
/** A pool whose size is measured grows to at most so many slots. */
const MAX_MEASURED_SLOTS = 64;
/** Between telling a run to stop and stopping it by force. */
const GRACE_MS = { cpu: 500, io: 1000, guest: 400 } as const;

export class Daemon {
  readonly #options: DaemonOptions;
  readonly #config: Config;
  readonly #clock: Clock;
  readonly #router = new Router();
  readonly #system: ActorSystem;
  readonly #telemetry: ActorRef<TelemetryMessages>;
  readonly #runs: Runs;
  readonly #pools: Pool[] = [];
  readonly #cpu: CpuPool;
  readonly #io: IoPool;
  readonly #guest: IoPool | null;
  readonly #scheduler: Scheduler;
  readonly #loopDelay: LoopDelaySampler;
  readonly #report: RuntimeReport;
  #lock: StateDirLock | null = null;
  #starting: Promise<void> | null = null;
  #stopping: Promise<void> | null = null;
  #killed = false;
  #cutShort: (() => void) | null = null;
  /** Brings the end of a stop forward to the hard limit from now. */
  #limit: (() => void) | null = null;
  #stuck = false;
  #measuring: { cancel(): void } | null = null;

  constructor(options: DaemonOptions) {
    const { config } = options;
    this.#options = options;
    this.#config = config;
    this.#clock = options.clock ?? systemClock;
    this.#system = new ActorSystem({
      thread: ThreadName.Main,
      placement: PLACEMENT,
      clock: this.#clock,
      remote: this.#router,
      onEscalate: (actor, error) => this.#fatal(`actor ${actor} failed too often`, error),
    });
    this.#loopDelay = new LoopDelaySampler(this.#clock);
    const store = this.#system.ref<StoreMessages>(ActorName.Store);
    this.#telemetry = this.#system.ref<TelemetryMessages>(ActorName.Telemetry);
    this.#runs = new Runs({
      clock: this.#clock,
      random: options.random ?? Math.random,
      tasks: config.tasks.map(runsTask),
      groups: config.groups,
      queues: config.queues,
      record: (seq, events) => store.tryTell('record', { seq, events }) === Delivery.Delivered,
      warn: (message, fields) => this.log('warn', message, fields),
    });
    this.#addLink(ThreadName.Service);
    const wantsGuest = config.tasks.some((task) => task.pool === 'guest');
    if (wantsGuest) this.#addLink(ThreadName.Guest);
    this.#cpu = this.#createCpuPool();
    this.#io = this.#createIoPool('io');
    this.#guest = wantsGuest ? this.#createIoPool('guest') : null;
    this.#pools = [this.#cpu, this.#io, ...(this.#guest === null ? [] : [this.#guest])];
    for (const pool of this.#pools) this.#runs.attachPool(pool);
    this.#scheduler = new Scheduler({
      clock: this.#clock,
      tasks: config.tasks,
      onDue: (task, atMs, origin) => this.#runs.due(task, occurrenceId(task, atMs), atMs, origin),
      onMissed: (task, count) => this.log('warn', 'occurrences missed', { task, count }),
    });
    this.#report = new RuntimeReport({
      version: options.version,
      config,
      clock: this.#clock,
      system: this.#system,
      router: this.#router,
      runs: this.#runs,
      scheduler: this.#scheduler,
      cpu: this.#cpu,
      io: this.#io,
      guest: this.#guest,
      loopDelay: this.#loopDelay,
    });
    this.#system.spawn(
      runsActor({
        runs: this.#runs,
        settle: (pool, outcomes) => {
          const holder = pool === this.#guest?.name ? this.#guest : this.#io;
          for (const outcome of outcomes) holder.settle(outcome);
        },
        view: () => this.view(),
      }),
    );
  }

  /** References for whoever drives the daemon from inside the process. */
  get runs(): ActorRef<RunsMessages> {
    return this.#system.ref<RunsMessages>(ActorName.Runs);
  }

  view(): RuntimeView {
    return this.#report.view(this.#stopping !== null);
  }

  log(level: LogRecord['level'], msg: string, fields: LogRecord['fields'] = null): void {
    this.#telemetry.tryTell('log', { level, atMs: this.#clock.wallMs(), msg, fields });
  }

  /**
   * Resolves when the daemon takes work. Idempotent. Rejects with `state-dir-held`, `file-failed`, or what kept a
   * thread from starting; nothing is left running then.
   */
  start(): Promise<void> {
    this.#starting ??= this.#start().catch(async (error: unknown) => {
      await this.kill();
      throw error;
    });
    return this.#starting;
  }

  /**
   * The orderly end: running work gets the grace, then is aborted, then killed. Resolves when everything is
   * ended, at the latest a second after the grace. Idempotent.
   */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  /** The end at once: what runs is killed. Idempotent; cuts a stop short that is under way. */
  kill(): Promise<void> {
    this.#killed = true;
    this.#cutShort?.();
    const stopped = this.stop();
    this.#limit?.();
    return stopped;
  }

  /** After a stop: some thread sits in a native call and has not ended. */
  get hasStuckThreads(): boolean {
    return this.#stuck;
  }

  async #start(): Promise<void> {
    this.#lock = lockStateDir(this.#config.stateDir);
    await Promise.all([...this.#router.links].map((link) => link.start()));
    await this.#telemetry.ask('open', null);
    await this.#system.ref<ControlMessages>(ActorName.Control).ask('open', null);
    if (this.#stopping !== null)
      throw new ColibriError('shutting-down', 'expected to start, got a stop meanwhile');
    this.#loopDelay.start();
    this.#measureIo();
    this.#scheduler.start();
    this.#report.readyMs = Math.round(performance.now());
    this.log('info', 'ready', {
      ready_ms: this.#report.readyMs,
      pid: process.pid,
      version: this.#options.version,
      tasks: this.#config.tasks.length,
      cpu_threads: this.#cpu.slots,
      io_slots: this.#io.slots,
    });
  }

  async #stop(): Promise<void> {
    const limit = Promise.withResolvers<void>();
    let timer = this.#clock.setTimer(this.#config.shutdown.graceMs + HARD_LIMIT_MS, limit.resolve);
    this.#limit = () => {
      timer.cancel();
      timer = this.#clock.setTimer(HARD_LIMIT_MS, limit.resolve);
    };
    if (this.#killed) this.#limit();
    this.#stuck = true;
    const done = this.#windDown().then(() => {
      this.#stuck = this.#cpu.stuckThreads > 0 || [...this.#router.links].some((link) => link.leftBehind);
    });
    await Promise.race([done, limit.promise]);
    timer.cancel();
    this.#lock?.release();
  }

  async #windDown(): Promise<void> {
    this.#scheduler.stop();
    this.#runs.close();
    this.#measuring?.cancel();
    this.#loopDelay.stop();
    const { graceMs } = this.#config.shutdown;
    if (this.#starting !== null) {
      await this.#atMost(Promise.all(this.#pools.map((pool) => pool.drain())), graceMs - ABORT_SHARE_MS);
      this.#runs.abortAll('shutdown');
      await this.#atMost(Promise.all(this.#pools.map((pool) => pool.drain())), ABORT_SHARE_MS);
      await Promise.all(this.#pools.map((pool) => pool.destroy()));
      await this.#timeLimit(this.#runs.settled(), RECORD_WAIT_MS);
      this.log('info', 'stopped', { killed: this.#killed });
    }
    this.#runs.destroy();
    await Promise.all([...this.#router.links].map((link) => link.stop(THREAD_STOP_MS)));
    await this.#system.close();
  }

  /** Waits for `work`, but not longer than `ms`, and not at all once it was killed. */
  async #atMost(work: Promise<unknown>, ms: number): Promise<void> {
    if (this.#killed) return;
    const cut = new Promise<void>((resolve) => {
      this.#cutShort = resolve;
    });
    await this.#timeLimit(Promise.race([work, cut]), ms);
    this.#cutShort = null;
  }

  async #timeLimit(work: Promise<unknown>, ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = this.#clock.setTimer(Math.max(0, ms), resolve);
      void work.finally(() => {
        timer.cancel();
        resolve();
      });
    });
  }

  #addLink(name: ThreadName): void {
    const link: ThreadLink = new ThreadLink({
      name,
      file: threadFile('host'),
      workerData: { settings: this.#hostSettings() },
      system: this.#system,
      route: (thread, text) => this.#router.send(thread, text),
      clock: this.#clock,
      onLost: (cause) => {
        this.log('error', 'thread lost', { thread: name, error: cause.message });
        if (name === ThreadName.Service) this.#io.threadLost(cause);
        else this.#guest?.threadLost(cause);
      },
      onRestarted: () => void this.#reopen(name),
      onEscalate: (error) => this.#fatal(`thread ${name} cannot be kept running`, error),
    });
    this.#router.add(link);
  }

  /** A service thread in its next life has to be told to listen again. */
  async #reopen(name: ThreadName): Promise<void> {
    this.log('warn', 'thread started again', { thread: name });
    if (name !== ThreadName.Service || this.#stopping !== null) return;
    try {
      await this.#telemetry.ask('open', null);
      await this.#system.ref<ControlMessages>(ActorName.Control).ask('open', null);
    } catch (error) {
      this.log('error', 'could not listen again', { error: String(error) });
    }
    this.#runs.resend();
  }

  #createCpuPool(): CpuPool {
    const { cpu } = this.#config.pools;
    return new CpuPool({
      workerFile: threadFile('cpu-worker'),
      threads: cpu.threads,
      idleMs: cpu.idleMs,
      source: this.#runs.source('cpu'),
      workerData: { modules: this.#config.modules },
      graceMs: GRACE_MS.cpu,
      clock: this.#clock,
      onOutcome: (outcome) => this.#runs.outcome(outcome),
      onLog: (record) => void this.#telemetry.tryTell('log', record),
      onProgress: (run, fraction, note) => this.#runs.progress({ run, fraction, note }),
      onThreadLost: (cause) => {
        this.#report.countCpuRestart();
        this.log('warn', 'cpu thread lost', { error: cause.message });
      },
    });
  }

  #createIoPool(name: 'io' | 'guest'): IoPool {
    const { io } = this.#config.pools;
    const thread = name === 'io' ? ThreadName.Service : ThreadName.Guest;
    return new IoPool({
      name,
      actor: this.#system.ref<IoMessages>(name),
      source: this.#runs.source(name),
      slots: io.slots,
      graceMs: GRACE_MS[name],
      clock: this.#clock,
      onOutcome: (outcome) => this.#runs.outcome(outcome),
      onStuck: (cause) => void this.#router.link(thread)?.replace(cause),
      ...(io.sizing === 'measured'
        ? {
            sizing: new MeasuredSizing({
              cores: availableParallelism(),
              waitMs: io.waitMs,
              computeMs: io.computeMs,
            }),
          }
        : {}),
    });
  }

  #hostSettings(): HostSettings {
    const config = this.#config;
    return {
      telemetry: {
        log: {
          ...config.log,
          pretty: this.#options.pretty ?? false,
          colours: this.#options.colours ?? false,
        },
        metrics: config.metrics,
        configVersion: config.version,
        tasks: config.tasks.map((task) => task.name),
      },
      store: config.retention,
      control: { socketPath: join(config.stateDir, 'control.sock') },
      io: { maxSlots: config.pools.io.sizing === 'measured' ? MAX_MEASURED_SLOTS : config.pools.io.slots },
      modules: this.#config.modules,
    };
  }

  /** Feeds pools whose size is measured with the time their thread was busy. */
  #measureIo(): void {
    if (this.#config.pools.io.sizing !== 'measured') return;
    const look = (): void => {
      for (const pool of [this.#io, this.#guest]) {
        const thread = pool?.name === 'guest' ? ThreadName.Guest : ThreadName.Service;
        pool?.measure(this.#router.link(thread)?.takeActiveMs() ?? 0);
      }
      const timer = this.#clock.setTimer(MEASURE_MS, look);
      timer.unref();
      this.#measuring = timer;
    };
    look();
  }

  #fatal(message: string, cause: unknown): void {
    const error = new ColibriError('internal', `${message}: ${toErrorData(cause, 'internal').message}`, {
      cause,
    });
    this.log('error', error.message);
    this.#options.onFatal?.(error);
  }
}
