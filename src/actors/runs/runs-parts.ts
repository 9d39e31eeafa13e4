/** The parts that `Runs` is made of, wired: each is told of the others what it has to ask or to tell, and no more. */
import { Arrivals } from './arrivals.ts';
import { DEFAULT_BYTE_LIMITS } from './byte-limits.ts';
import { Cancellation } from './cancellation.ts';
import { DeadLetters } from './dead-letters.ts';
import { FlowMeter } from './flow-meter.ts';
import { Intake } from './intake.ts';
import { Journal } from './journal.ts';
import { LaterRuns, NEAR } from './later-runs.ts';
import { Lifecycle } from './lifecycle.ts';
import { LiveBytes } from './live-bytes.ts';
import { PoolDoor } from './pool-door.ts';
import { Postponed } from './postponed.ts';
import { ReadyQueue } from './ready-queue.ts';
import { type RestorationParts, restoreRun } from './restoration.ts';
import { RetryQueue } from './retry-queue.ts';
import { RunTable } from './run-table.ts';
import { DEFAULT_AGEING_MS, type RunsOptions } from './runs-options.ts';
import { Settlement } from './settlement.ts';
import { StepRuns } from './step-runs.ts';
import { Triggers } from './triggers.ts';
import { DEFAULT_WATERMARKS } from './watermarks.ts';

const NO_BOUNDS = { concurrency: null, ageingMs: DEFAULT_AGEING_MS } as const;

export type RunsParts = ReturnType<typeof createRunsParts>;

/** `isClosed`: nothing more is taken in or given out. */
export function createRunsParts(options: RunsOptions, isClosed: () => boolean) {
  const { clock, random, queues, flows = null } = options;
  const { byteLimits: limits = DEFAULT_BYTE_LIMITS, durable = true } = options;
  const bytes = new LiveBytes();
  const flow = new FlowMeter(clock);
  const table = new RunTable(options.tasks);
  const isPressed = (): boolean => ready.pressure.isHigh || retries.pressure.isHigh;
  const ready: ReadyQueue = new ReadyQueue({
    clock,
    capacity: queues.ready.capacity,
    watermarks: queues.ready.watermarks ?? DEFAULT_WATERMARKS,
    bounds: { ...(options.bounds ?? NO_BOUNDS), groups: options.groups },
    load: () => bytes.accepted / limits.ready,
    flow,
    onRoom: () => door.wakeAll(),
    onPressure: (isHigh, share) => {
      options.onPressure?.('ready', isHigh, share);
      if (!isHigh) door.wake('scan');
    },
  });
  const dead: DeadLetters = new DeadLetters({
    ...queues.deadLetter,
    maxBytes: limits.deadLetters,
    onDropped: (run) => journal.drop(run),
  });
  const door: PoolDoor = new PoolDoor({
    ready,
    isPressed,
    isShut: () => isClosed() || journal.blocked,
    writesAhead: durable,
    onTaken: (run) => {
      lifecycle.started(run);
      intake.refill();
    },
  });
  const journal: Journal = new Journal({
    clock,
    send: options.record,
    forget: (run) => table.forget(run),
    onRoom: () => {
      postponed.release();
      door.wakeAll();
    },
    onPressure: (isHigh, share) => options.onPressure?.('journal', isHigh, share),
    durable,
    maxBytes: limits.journal,
  });
  const postponed: Postponed = new Postponed({
    isBlocked: () => journal.blocked,
    maxBytes: limits.delayed,
    onDue: (occurrence) => arrivals.due(occurrence),
  });
  const lifecycle: Lifecycle = new Lifecycle({
    clock,
    journal,
    bytes,
    onStep: (run) => flows?.onStep(run),
  });
  const retries: RetryQueue = new RetryQueue({
    clock,
    capacity: queues.retry.capacity,
    load: () => bytes.accepted / limits.retry,
    onPressure: (isHigh, share) => {
      options.onPressure?.('retry', isHigh, share);
      if (isHigh) return;
      intake.refill();
      door.wake('scan');
    },
    onDue: (run) => {
      intake.readmit(run);
      door.poolOf(run)?.wake();
    },
  });
  const settlement: Settlement = new Settlement({
    clock,
    random,
    lifecycle,
    retries,
    dead,
    readmit: (run) => intake.readmit(run),
    onOver: (task) => intake.releaseHeld(task),
  });
  const later: LaterRuns = new LaterRuns({
    clock,
    watch: options.watch ?? null,
    far: options.far ?? null,
    maxNearBytes: limits.delayed / 2,
    whenKept: (run, resolve) => journal.whenKept(run, resolve),
    onLeft: (run) => {
      lifecycle.left(run);
      table.forget(run);
    },
    onBack: (stored) => {
      if (table.has(stored.run)) return false;
      restoreRun(stored, restoration);
      // Those whose time has come meanwhile: they are judged now, as they would have been in memory.
      for (const run of restoration.waiting.splice(0)) arrivals.enter(run);
      return true;
    },
    onDue: (run) => arrivals.enter(run),
    hasRoom: () => !journal.blocked && intake.waiting < NEAR.stay,
  });
  const intake: Intake = new Intake({
    ready,
    isPressed,
    whenFull: queues.ready.whenFull,
    delayedCapacity: queues.delayed.capacity,
    delayedMaxBytes: limits.delayed,
    bytes,
    later,
    nowMs: () => clock.wallMs(),
    isKnown: (id) => table.has(id),
    onNew: (run) => {
      table.add(run);
      lifecycle.created(run);
    },
    onNewLater: (run) => {
      table.add(run);
      lifecycle.delayed(run);
    },
    onReady: (run) => {
      lifecycle.ready(run);
      ready.push(run);
    },
    onSkip: (run, error) => {
      if (run.state === 'ready') ready.remove(run);
      settlement.skip(run, error);
    },
    abortRunning: (task) => cancellation.replaced(task),
  });
  const arrivals: Arrivals = new Arrivals({
    table,
    journal,
    postponed,
    intake,
    lifecycle,
    door,
    isClosed,
  });
  const cancellation: Cancellation = new Cancellation({
    table,
    ready,
    later,
    retries,
    intake,
    lifecycle,
    settlement,
    door,
    isClosed,
  });
  const triggers: Triggers = new Triggers({
    clock,
    table,
    journal,
    postponed,
    intake,
    lifecycle,
    dead,
    admit: (newcomer, force) => arrivals.admit(newcomer, force),
    isClosed,
    warn: options.warn,
  });
  const restoration: RestorationParts = {
    clock,
    table,
    waiting: [],
    later,
    ready,
    retries,
    intake,
    lifecycle,
    settlement,
    limitsOf: (run, of) => flows?.limitsOf(run, of) ?? null,
  };
  const steps: StepRuns = new StepRuns({
    clock,
    table,
    journal,
    lifecycle,
    ready,
    door,
    isClosed,
    cancel: (run) => cancellation.cancel(run),
  });
  return {
    table,
    ready,
    retries,
    dead,
    later,
    intake,
    postponed,
    door,
    journal,
    settlement,
    flow,
    arrivals,
    triggers,
    cancellation,
    restoration,
    steps,
  };
}
