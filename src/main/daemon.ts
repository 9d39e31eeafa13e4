/**
 * The daemon: starts and stops what `wiring.ts` made.
 *
 *   stopped ─ start ─▶ starting ─▶ ready ─ stop ─▶ draining ─▶ aborting ─▶ stopped
 *                                            └──── kill ────────────────────┘
 *
 * Start: lock, threads, recovery, control socket, schedule, `ready`. Stop: no new work, the schedule stands, what runs may
 * end within the grace, then it is aborted, then killed; the log is flushed; the lock goes last.
 */

import type { Flows, FlowsOptions } from '../actors/flow/index.ts';
import {
  type ActorRef,
  type Clock,
  type ClockTimer,
  ColibriError,
  setLimit,
  systemClock,
  toErrorData,
} from '../actors/kernel/index.ts';
import {
  ActorName,
  type ControlMessages,
  type LogRecord,
  type RunsMessages,
  type StoreMessages,
  ThreadName,
} from '../actors/protocol.ts';
import type { RuntimeView } from '../actors/views/runtime-view.ts';
import type { Config } from './config/index.ts';
import type { EarlyStart } from './early-start.ts';
import type { Embedded } from './embedded.ts';
import { type Recovered, recover } from './recovery.ts';
import type { ReloadSource } from './reload.ts';
import { lockStateDir, type StateDirLock } from './state-dir.ts';
import { type Wiring, wireDaemon } from './wiring.ts';

export interface DaemonOptions {
  readonly config: Config;
  readonly version: string;
  /** Of the schedule and the runs; threads and the stop go by the machine's. */
  readonly clock?: Clock;
  /** In [0, 1). */
  readonly random?: () => number;
  /** Readable lines for a terminal in place of JSON. */
  readonly pretty?: boolean;
  readonly colours?: boolean;
  /**
   * Given where the daemon is the whole process: then its memory is held within the budget, and the allocator is
   * set for a small process. Without it a library leaves its host alone.
   */
  readonly early?: EarlyStart;
  /**
   * Given where the daemon is a part of a program of its user's: it has that program's functions, no control socket,
   * and with a store in memory no state directory.
   */
  readonly embedded?: Embedded;
  /** Given where the config has flows. */
  readonly createFlows?: (options: FlowsOptions) => Flows;
  /** How long before this process's clock began its launcher was started, ms. Default 0. */
  readonly launchMs?: number;
  /** Where the config comes from, to read it anew; without it there is nothing to reload. */
  readonly configSource?: ReloadSource;
  /** Something that cannot be mended from inside: the owner should stop the daemon. */
  readonly onFatal?: (error: ColibriError) => void;
}

/** Of the grace, what is kept back for aborting and killing: half of it, but at most so much. */
const ABORT_SHARE_MS = 1500;
/** After the grace: killing what runs, the store's word that it has all, the end of the threads. */
const DESTROY_MS = 150;
const RECORD_WAIT_MS = 200;
/** More than telemetry takes for its last lines. */
export const THREAD_STOP_MS = 450;
/** A stop that is not done so long after its grace is given up; a second after the grace the process has ended. */
const HARD_LIMIT_MS = 850;
const MEASURE_MS = 1000;
/** Flows of before are taken up before new work, unless that takes longer. */
const FLOWS_MS = 2000;
const REOPEN_MS = { first: 500, most: 10_000 } as const;

export class Daemon {
  readonly #version: string;
  readonly #launchMs: number;
  readonly #config: Config;
  readonly #clock: Clock;
  readonly #embedded: Embedded | null;
  readonly #parts: Wiring;
  readonly #onFatal: (error: ColibriError) => void;
  #lock: StateDirLock | null = null;
  #starting: Promise<void> | null = null;
  #stopping: Promise<void> | null = null;
  #killed = false;
  #cutShort: (() => void) | null = null;
  /** Brings the end of a stop forward to the hard limit from now. */
  #limit: (() => void) | null = null;
  #stuck = false;
  #measuring: ClockTimer | null = null;
  #reopening: ClockTimer | null = null;
  /** Tells this daemon from the others that had the same journal. */
  readonly #boot = `${Date.now()}-${process.pid}-${process.hrtime.bigint()}`;
  /** Counts the lives of the service thread. */
  #serviceLife = 0;

  constructor(options: DaemonOptions) {
    this.#version = options.version;
    this.#launchMs = options.launchMs ?? 0;
    this.#config = options.config;
    this.#clock = options.clock ?? systemClock;
    this.#embedded = options.embedded ?? null;
    this.#onFatal = options.onFatal ?? (() => {});
    this.#parts = wireDaemon({
      config: options.config,
      version: options.version,
      clock: this.#clock,
      random: options.random ?? Math.random,
      pretty: options.pretty ?? false,
      colours: options.colours ?? false,
      early: options.early ?? null,
      embedded: this.#embedded,
      createFlows: options.createFlows ?? null,
      log: (level, msg, fields) => this.log(level, msg, fields),
      view: () => this.view(),
      configSource: options.configSource ?? null,
      onFatal: (message, cause) => this.#fatal(message, cause),
      onRestarted: (thread) => void this.#reopen(thread),
    });
  }

  /** For whoever drives the daemon from inside the process. */
  get runs(): ActorRef<RunsMessages> {
    return this.#parts.system.ref<RunsMessages>(ActorName.Runs);
  }

  get store(): ActorRef<StoreMessages> {
    return this.#parts.store;
  }

  /** Some run is on a slot, or only waits for one; those that a rate holds back wait for their time. */
  get isBusy(): boolean {
    const { pools, runs, flows } = this.#parts;
    return runs.figures.isOpen || flows?.busy === true || pools.some(({ active }) => active > 0);
  }

  /** Resolves when all that was asked before is taken in, and all transitions so far are recorded. */
  async settled(): Promise<void> {
    // Messages are taken in order: whoever has an answer knows that those before have been looked at.
    await this.runs.ask('show-live', { run: '' }, { timeoutMs: null });
    await this.#parts.runs.settled();
  }

  view(): RuntimeView {
    return this.#parts.report.view(this.#stopping !== null);
  }

  log(level: LogRecord['level'], msg: string, fields: LogRecord['fields'] = null): void {
    this.#parts.telemetry.tryTell('log', { level, atMs: this.#clock.wallMs(), msg, fields });
  }

  /**
   * Resolves when the daemon takes work. Idempotent. Rejects with `state-dir-held`, `config-invalid`,
   * `listen-failed`, what kept a thread from starting, or `shutting-down` after a stop meanwhile; nothing is left
   * running then.
   */
  start(): Promise<void> {
    this.#starting ??= this.#start().catch(async (error: unknown) => {
      const wasStopped = this.#stopping !== null;
      await (wasStopped ? this.stop() : this.kill());
      throw wasStopped ? stoppedError(error) : error;
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
    const { router, scheduler, telemetry, loopDelay, governor, report, cpu, io } = this.#parts;
    const { stateDir, store } = this.#config;
    if (this.#embedded === null || store.kind !== 'memory') this.#lock = lockStateDir(stateDir);
    const linked = Promise.all([...router.links].map((link) => link.start()));
    // While the threads come up.
    governor?.prepare();
    await linked;
    // Metrics listen while the journal is read: until the daemon is ready they say that it starts.
    const [recovered] = await Promise.all([this.#recoverAlone(), telemetry.ask('open', null)]);
    await this.#parts.flows?.takenUp(FLOWS_MS);
    await this.#openControl();
    if (this.#stopping !== null) throw stoppedError();
    loopDelay.start();
    this.#measureIo();
    scheduler.start(recovered.handledMs);
    governor?.start();
    report.readyMs = Math.round(performance.now() + this.#launchMs);
    this.log('info', 'ready', {
      ready_ms: report.readyMs,
      pid: process.pid,
      version: this.#version,
      tasks: this.#config.tasks.length,
      flows: this.#config.flows.length,
      cpu_threads: cpu.slots,
      io_slots: io.slots,
    });
    // This line does not wait for company: somebody may be waiting for it.
    telemetry.ask('flush', null).catch(() => {});
  }

  /**
   * A holder of the lock that lives in another container is not seen to be alive, but it answers on its socket: it is asked
   * before its journal is taken for one that was left behind.
   */
  async #recoverAlone(): Promise<Recovered> {
    if (this.#embedded === null) await this.#control.ask('probe', null);
    return this.#recover();
  }

  /** What the daemon before left behind is settled before any new work. */
  async #recover(): Promise<Recovered> {
    const { store, runs, telemetry } = this.#parts;
    const tasks = [...this.#config.tasks, ...this.#config.flows];
    const recovered = await recover({ clock: this.#clock, store, runs, tasks, boot: this.#boot });
    const { opening, ends, interrupted, orphaned, tookMs } = recovered;
    const succeeded = ends.flatMap(({ task, succeededAtMs: atMs }) =>
      atMs === null ? [] : [{ task, atMs }],
    );
    await telemetry.tell('succeeded', { last: succeeded });
    const { unfinished, delayed } = opening;
    if (opening.crashed || unfinished + delayed > 0) {
      this.log('info', 'recovered', {
        runs: unfinished + delayed,
        delayed,
        interrupted,
        orphaned,
        dead_letters: opening.letters,
        crashed: opening.crashed,
        took_ms: Math.round(tookMs),
      });
    }
    return recovered;
  }

  get #control(): ActorRef<ControlMessages> {
    return this.#parts.system.ref<ControlMessages>(ActorName.Control);
  }

  async #openControl(): Promise<void> {
    if (this.#embedded !== null) return;
    await this.#control.ask('open', null);
  }

  /** A service thread in its next life has to be told to listen again, and what was not recorded. */
  async #reopen(name: ThreadName): Promise<void> {
    this.log('warn', 'thread started again', { thread: name });
    if (name !== ThreadName.Service || this.#stopping !== null) return;
    const { store, runs, telemetry } = this.#parts;
    if (this.#config.store.kind === 'memory') {
      const msg = 'the store in memory began anew: the history of runs and the marks of files done are lost';
      this.log('warn', msg, { thread: name });
    }
    const life = ++this.#serviceLife;
    for (let waitMs: number = REOPEN_MS.first; ; waitMs = Math.min(2 * waitMs, REOPEN_MS.most)) {
      try {
        await store.ask('open', { boot: this.#boot, kept: runs.journal.kept }, { timeoutMs: null });
        runs.journal.resend();
        await telemetry.ask('open', null);
        await this.#openControl();
        return;
      } catch (error) {
        if (this.#stopping !== null || this.#serviceLife !== life) return;
        const { message } = toErrorData(error, 'internal');
        this.log('error', 'could not listen again', { error: message, again_ms: waitMs });
      }
      // A stop cancels the timer and with it this loop, a new life takes its place.
      await new Promise<void>((resolve) => {
        this.#reopening?.cancel();
        this.#reopening = systemClock.setTimer(waitMs, resolve);
      });
    }
  }

  async #stop(): Promise<void> {
    const limit = Promise.withResolvers<void>();
    let timer = setLimit(systemClock, this.#config.shutdown.graceMs + HARD_LIMIT_MS, limit.resolve);
    this.#limit = () => {
      timer.cancel();
      timer = setLimit(systemClock, HARD_LIMIT_MS, limit.resolve);
    };
    if (this.#killed) this.#limit();
    this.#stuck = true;
    const { cpu, io, router } = this.#parts;
    const done = this.#windDown().then(() => {
      this.#stuck = cpu.stuckThreads > 0 || [...router.links].some((link) => link.leftBehind);
    });
    await Promise.race([done, limit.promise]);
    timer.cancel();
    io.threadEnded();
    this.#lock?.release();
  }

  async #windDown(): Promise<void> {
    const { scheduler, runs, flows, pools, loopDelay, governor, router, system } = this.#parts;
    scheduler.stop();
    void flows?.drain();
    governor?.stop();
    runs.close();
    this.#measuring?.cancel();
    this.#reopening?.cancel();
    loopDelay.stop();
    if (this.#starting !== null) {
      const { graceMs } = this.#config.shutdown;
      const abortShareMs = Math.min(ABORT_SHARE_MS, graceMs / 2);
      const drained = () => Promise.all(pools.map((pool) => pool.drain()));
      await this.#atMost(drained(), graceMs - abortShareMs);
      runs.abortAll('shutdown');
      await this.#atMost(drained(), abortShareMs);
      // A thread in a native call does not end; the lines of the others are not lost over it.
      await this.#timeLimit(Promise.all(pools.map((pool) => pool.destroy())), DESTROY_MS);
      await this.#timeLimit(runs.settled(), RECORD_WAIT_MS);
      const { unfinished: count, later: delayed } = runs.figures;
      if (count > 0) {
        if (this.#config.store.kind === 'memory') this.log('warn', 'runs lost', { count, delayed });
        else this.log('info', 'runs kept for the next start', { count, delayed });
      }
      this.log('info', 'stopped', { killed: this.#killed });
    }
    runs.destroy();
    await Promise.all([...router.links].map((link) => link.stop(THREAD_STOP_MS)));
    await system.close();
  }

  /** Waits for `work`, but not longer than `ms`, and not at all once it was killed. */
  async #atMost(work: Promise<unknown>, ms: number): Promise<void> {
    if (this.#killed) return;
    const cut = Promise.withResolvers<void>();
    this.#cutShort = cut.resolve;
    // The shares of the grace are for the runs, which a stall costs what it costs them; the limits of the rest are short.
    await this.#timeLimit(Promise.race([work, cut.promise]), ms, (end) => systemClock.setTimer(ms, end));
    this.#cutShort = null;
  }

  async #timeLimit(
    work: Promise<unknown>,
    ms: number,
    setTimer = (end: () => void): ClockTimer => setLimit(systemClock, ms, end),
  ): Promise<void> {
    const limit = Promise.withResolvers<void>();
    const timer = setTimer(limit.resolve);
    await Promise.race([work, limit.promise]);
    timer.cancel();
  }

  /** Feeds pools whose size is measured with the time their thread was busy. */
  #measureIo(): void {
    if (this.#config.pools.io.sizing !== 'measured') return;
    const { io, guest, router } = this.#parts;
    const look = (): void => {
      io.measure(router.link(ThreadName.Service)?.takeActiveMs() ?? 0);
      guest?.measure(router.link(ThreadName.Guest)?.takeActiveMs() ?? 0);
      const timer = systemClock.setTimer(MEASURE_MS, look);
      timer.unref();
      this.#measuring = timer;
    };
    look();
  }

  #fatal(message: string, cause: unknown): void {
    const data = toErrorData(cause, 'internal');
    const error = new ColibriError('internal', `${message}: ${data.message}`, { cause });
    this.log('error', error.message);
    this.#onFatal(error);
  }
}

function stoppedError(cause?: unknown): ColibriError {
  return new ColibriError('shutting-down', 'expected to start, got a stop meanwhile', { cause });
}
