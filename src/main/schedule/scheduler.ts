/**
 * The scheduler: one heap entry per scheduled task, keyed by wall time, one capped timer for all. It says only
 * *what is due*; whether and where it runs is decided by others.
 *
 * An occurrence is given out once: the next one is computed from the last occurrence, never from "now", so a
 * timer that wakes early, late or twice changes nothing. Only where the wall clock was set back by more than
 * `STEP_BACK_MS`, in one step or several, is the next one computed anew: the schedule would stand still for as long.
 */
import { type DelayEngine, HeapDelayEngine, type TimerHandle } from '../../actors/delay/index.ts';
import type { Clock } from '../../actors/kernel/index.ts';
import type { MisfirePolicy, ScheduleSpec } from '../config/config.ts';
import type { Occurrences } from './cron-occurrences.ts';
import { type DueOccurrences, dueOccurrences } from './misfire.ts';
import { occurrencesOf, splayOf } from './occurrences.ts';
import { TimeZones } from './time-zones.ts';

/** What the scheduler needs to know of a task. */
export interface ScheduledTask {
  readonly name: string;
  readonly schedule: ScheduleSpec | null;
  readonly misfire: MisfirePolicy;
  readonly splayMs: number;
  readonly runOnStart: boolean;
}

export interface SchedulerOptions {
  readonly clock: Clock;
  readonly tasks: readonly ScheduledTask[];
  readonly onDue: (task: string, occurrenceMs: number, origin: 'schedule' | 'start') => void;
  readonly onMissed: (task: string, missed: Pick<DueOccurrences, 'missed' | 'more'>) => void;
  /** The wall clock was moved against the monotonic one by so much. */
  readonly onStep: (stepMs: number) => void;
  /** No next occurrence could be computed; it is tried again in an hour. */
  readonly onLost: (task: string) => void;
}

interface Entry {
  readonly task: ScheduledTask;
  readonly occurrences: Occurrences;
  readonly splayMs: number;
  /** The next occurrence, without its splay; null: to be computed when the entry is due. */
  nextMs: number | null;
  handle: TimerHandle;
}

/** Steps of the wall clock smaller than this are drift: not worth a word. */
export const STEP_MS = 1000;
/** After a step back larger than this, schedules are computed anew. */
export const STEP_BACK_MS = 60_000;
const LOST_RETRY_MS = 3_600_000;

export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #clock: Clock;
  readonly #engine: DelayEngine<Entry>;
  readonly #entries = new Map<string, Entry>();
  readonly #zones = new TimeZones();
  /** Wall time less monotonic time when last looked at. */
  #offsetMs = 0;
  /** The latest wall time seen since schedules were last computed anew. */
  #latestMs = 0;
  #started = false;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#engine = new HeapDelayEngine<Entry>({
      clock: options.clock,
      now: () => options.clock.wallMs(),
      onDue: (entry) => this.#due(entry),
      onWake: () => this.#lookForStep(),
    });
  }

  /**
   * Occurrences after those that have been dealt with are given out: `handledMs` says up to when, by task; without, or
   * with an instant that is still to come, those after this moment. Idempotent.
   */
  start(handledMs: ReadonlyMap<string, number> = new Map()): void {
    if (this.#started) return;
    this.#started = true;
    const now = this.#clock.wallMs();
    this.#offsetMs = now - this.#clock.monoMs();
    this.#latestMs = now;
    for (const task of this.#options.tasks) {
      if (task.runOnStart) this.#options.onDue(task.name, now, 'start');
      if (task.schedule === null) continue;
      const occurrences = occurrencesOf(task.schedule, this.#zones);
      const splayMs = splayOf(task.name, task.splayMs);
      const afterMs = Math.min(now, handledMs.get(task.name) ?? now);
      const entry: Entry = { task, occurrences, splayMs, nextMs: occurrences.next(afterMs), handle: 0 };
      this.#plan(entry);
    }
  }

  /** When a task runs next by its schedule; null: not at all. */
  nextOf(task: string): number | null {
    const entry = this.#entries.get(task);
    return entry === undefined || entry.nextMs === null ? null : entry.nextMs + entry.splayMs;
  }

  /** Nothing is due any more. Idempotent. */
  stop(): void {
    this.#engine.close();
    this.#entries.clear();
  }

  #plan(entry: Entry): void {
    const { task, nextMs, splayMs } = entry;
    if (nextMs !== null) {
      this.#entries.set(task.name, entry);
      entry.handle = this.#engine.schedule(nextMs + splayMs, entry);
    } else if (task.schedule?.kind === 'at') this.#entries.delete(task.name);
    else {
      this.#options.onLost(task.name);
      entry.handle = this.#engine.schedule(this.#clock.wallMs() + LOST_RETRY_MS, entry);
    }
  }

  #due(entry: Entry): void {
    const { task, occurrences, splayMs, nextMs: firstMs } = entry;
    const nowMs = this.#clock.wallMs() - splayMs;
    if (firstMs === null) {
      entry.nextMs = occurrences.next(nowMs);
      this.#plan(entry);
      return;
    }
    const due = dueOccurrences({ occurrences, firstMs, nowMs, policy: task.misfire });
    entry.nextMs = due.next;
    this.#plan(entry);
    if (due.missed > 0) this.#options.onMissed(task.name, due);
    for (const occurrence of due.run) this.#options.onDue(task.name, occurrence, 'schedule');
  }

  #lookForStep(): void {
    const now = this.#clock.wallMs();
    const offsetMs = now - this.#clock.monoMs();
    const stepMs = offsetMs - this.#offsetMs;
    if (Math.abs(stepMs) >= STEP_MS) {
      this.#offsetMs = offsetMs;
      this.#options.onStep(stepMs);
    }
    // Several small steps back add up: what counts is how far the wall clock is behind where it has been.
    const behindMs = this.#latestMs - now;
    this.#latestMs = behindMs > STEP_BACK_MS ? now : Math.max(this.#latestMs, now);
    if (behindMs <= STEP_BACK_MS) return;
    for (const entry of this.#entries.values()) {
      if (entry.task.schedule?.kind === 'at') continue;
      this.#engine.cancel(entry.handle);
      entry.nextMs = entry.occurrences.next(now);
      this.#plan(entry);
    }
  }
}
