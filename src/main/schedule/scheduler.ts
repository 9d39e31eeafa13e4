/**
 * The scheduler: one heap entry per scheduled task, keyed by wall time, one capped timer for all. It says only
 * *what is due*; whether and where it runs is decided by others.
 *
 * An occurrence is given out once: the next one is computed from the last occurrence, never from "now", so a
 * timer that wakes early, late or twice changes nothing. At each waking the clocks are looked at first, and others who go
 * by wall time look when they wake. What a step of the wall clock means for a schedule is known by its entry; here the
 * keys are set anew:
 *
 *     backward   each schedule is followed from the new time on, without what has been dealt with
 *     forward    what was passed over is late; of stretches lived before, only what came after the last one
 */
import { type DelayEngine, HeapDelayEngine } from '../../actors/delay/index.ts';
import type { Clock } from '../../actors/kernel/index.ts';
import type { MisfirePolicy, ScheduleSpec } from '../config/config.ts';
import type { ClockLook, ClockWatch } from './clock-watch.ts';
import { LivedTime } from './lived-time.ts';
import type { DueOccurrences } from './misfire.ts';
import { occurrencesOf, splayOf } from './occurrences.ts';
import { ScheduleEntry } from './schedule-entry.ts';
import { MAX_INSTANT_MS, TimeZones } from './time-zones.ts';

/** What the scheduler needs to know of a task. */
export interface ScheduledTask {
  readonly name: string;
  readonly schedule: ScheduleSpec | null;
  readonly misfire: MisfirePolicy;
  readonly splayMs: number;
  readonly runOnStart: boolean;
}

/** A task is to run: by its schedule, or because the daemon has begun. */
export interface DueTask {
  readonly task: string;
  readonly occurrenceMs: number;
  readonly origin: 'schedule' | 'start';
  /** One of the late occurrences that are all to run, one behind the other. */
  readonly catchUp: boolean;
}

export interface SchedulerOptions {
  readonly clock: Clock;
  /** The one of all who go by this clock's wall time. */
  readonly watch: ClockWatch;
  readonly tasks: readonly ScheduledTask[];
  readonly onDue: (due: DueTask) => void;
  readonly onMissed: (task: string, missed: Pick<DueOccurrences, 'missed' | 'more'>) => void;
  /** No next occurrence could be computed; it is tried again in an hour. */
  readonly onLost: (task: string) => void;
  /** Its `stop_at` has been reached, or no occurrence is left before it. */
  readonly onEnded: (task: string, stopAtMs: number) => void;
}

const LOST_RETRY_MS = 3_600_000;

export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #watch: ClockWatch;
  readonly #lived = new LivedTime();
  readonly #engine: DelayEngine<ScheduleEntry>;
  readonly #entries = new Map<string, ScheduleEntry>();
  /** Tasks that have missed any. */
  readonly #missed = new Map<string, number>();
  readonly #zones = new TimeZones();
  #started = false;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#watch = options.watch;
    this.#engine = new HeapDelayEngine<ScheduleEntry>({
      clock: options.clock,
      now: () => this.#watch.nowMs(),
      onDue: (entry) => this.#due(entry),
      watch: options.watch,
    });
  }

  /**
   * Occurrences after those that have been dealt with are given out: `handledMs` says up to when, by task; without, or
   * with an instant that is still to come, those after this moment. Idempotent.
   */
  start(handledMs: ReadonlyMap<string, number> = new Map()): void {
    if (this.#started) return;
    this.#started = true;
    const { wallMs: nowMs } = this.#watch.look(0);
    this.#lived.begin(nowMs, nowMs);
    this.#watch.onLook((look) => this.#looked(look));
    for (const { name, schedule, misfire, ...task } of this.#options.tasks) {
      if (task.runOnStart) {
        this.#options.onDue({ task: name, occurrenceMs: nowMs, origin: 'start', catchUp: false });
      }
      if (schedule === null) continue;
      const handled = handledMs.get(name) ?? null;
      const entry = new ScheduleEntry({
        task: name,
        schedule,
        misfire,
        occurrences: occurrencesOf(schedule, this.#zones),
        splayMs: splayOf(name, task.splayMs),
        lived: this.#lived,
        afterMs: Math.min(nowMs, handled ?? nowMs),
        handledMs: handled,
      });
      this.#entries.set(name, entry);
      this.#plan(entry);
    }
  }

  /** When a task runs next by its schedule; null: not at all. */
  nextOf(task: string): number | null {
    return this.#entries.get(task)?.dueMs ?? null;
  }

  /** Occurrences of the task that were left out by the misfire policy, as far as they were counted. */
  missedOf(task: string): number {
    return this.#missed.get(task) ?? 0;
  }

  /** Nothing is due any more. Idempotent. */
  stop(): void {
    this.#engine.close();
    this.#entries.clear();
  }

  #plan(entry: ScheduleEntry): void {
    entry.handle = this.#engine.schedule(this.#keyOf(entry), entry);
  }

  #replan(entry: ScheduleEntry): void {
    this.#engine.cancel(entry.handle);
    this.#plan(entry);
  }

  /** One that is over stays, as far away as can be: a clock that was wrong may be set back. */
  #keyOf(entry: ScheduleEntry): number {
    const { dueMs, stopAtMs, task } = entry;
    if (dueMs !== null) entry.toldEnd = false;
    else if (!entry.ends) {
      this.#options.onLost(task);
      return this.#watch.nowMs() + LOST_RETRY_MS;
    } else if (stopAtMs !== null && !entry.toldEnd) {
      entry.toldEnd = true;
      this.#options.onEnded(task, stopAtMs);
    }
    return dueMs ?? MAX_INSTANT_MS;
  }

  #due(entry: ScheduleEntry): void {
    const nowMs = this.#watch.nowMs();
    this.#lived.extend(nowMs);
    this.#give(entry, nowMs);
  }

  #give(entry: ScheduleEntry, nowMs: number): void {
    const { onDue, onMissed } = this.#options;
    const { task } = entry;
    const due = entry.take(nowMs);
    this.#plan(entry);
    if (due.missed > 0) {
      this.#missed.set(task, this.missedOf(task) + due.missed);
      onMissed(task, due);
    }
    const { catchUp } = due;
    for (const occurrenceMs of due.run) onDue({ task, occurrenceMs, origin: 'schedule', catchUp });
  }

  #looked({ wallMs, passedMs, stepMs }: ClockLook): void {
    if (stepMs === 0) return this.#lived.extend(wallMs);
    // Those for which there was no turn yet: due by the clock as it was.
    const lookedMs = this.#lived.toMs;
    for (const entry of this.#entries.values()) {
      if (entry.dueMs === null || entry.dueMs > lookedMs) continue;
      this.#engine.cancel(entry.handle);
      this.#give(entry, lookedMs);
    }
    this.#lived.begin(wallMs - passedMs, wallMs);
    if (stepMs < 0) this.#goBack(wallMs);
    else this.#goForward(wallMs);
  }

  #goBack(nowMs: number): void {
    for (const entry of this.#entries.values()) if (entry.goBack(nowMs)) this.#replan(entry);
  }

  /** What lies before a stretch that was lived was decided when that began, and by the daemon of before in its time. */
  #goForward(nowMs: number): void {
    const livedMs = this.#lived.closed.lastEnd(nowMs);
    for (const entry of this.#entries.values()) {
      const decidedMs = Math.max(livedMs, entry.handledBy(nowMs));
      if (entry.dueMs === null || entry.dueMs > decidedMs) continue;
      entry.moveTo(decidedMs);
      this.#replan(entry);
    }
  }
}
