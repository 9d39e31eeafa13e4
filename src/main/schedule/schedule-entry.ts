/**
 * One schedule as the scheduler follows it: its next occurrence, and which ones have been dealt with.
 *
 * Always holds: in the stretch of time that is being lived, what comes before the next occurrence has been dealt with,
 * and nothing after it.
 *
 * A schedule of fixed times has each occurrence once, however the clock is set. One that counts real time (`every`, and
 * cron with every hour) must not stand still for long instead: where the clock was set far back it goes on with the new
 * time, and the instants that come again are moments of their own.
 */
import type { TimerHandle } from '../../actors/delay/index.ts';
import type { MisfirePolicy, ScheduleSpec } from '../config/config.ts';
import type { Occurrences } from './cron-occurrences.ts';
import type { LivedTime } from './lived-time.ts';
import { type DueOccurrences, dueOccurrences } from './misfire.ts';
import { countsRealTime, ends } from './occurrences.ts';
import { OccurrencesOutside, type Stretch, StretchSet } from './stretches.ts';

/** A schedule that counts real time stands still for steps back up to this. */
export const STEP_BACK_MS = 60_000;

export interface ScheduleEntryOptions {
  readonly task: string;
  readonly schedule: ScheduleSpec;
  readonly misfire: MisfirePolicy;
  readonly occurrences: Occurrences;
  readonly splayMs: number;
  readonly lived: LivedTime;
  /** Occurrences come after this instant. */
  readonly afterMs: number;
  /**
   * The last one that was dealt with by a daemon of before; null: it is not known. Where it is still to come, one of the
   * two clocks was wrong: that of then, or that of now, as on a machine that starts without the time.
   */
  readonly handledMs: number | null;
}

export class ScheduleEntry {
  readonly task: string;
  readonly splayMs: number;
  /** False: no next occurrence means that none was found. */
  readonly ends: boolean;
  /** Where the next occurrence waits. */
  handle: TimerHandle = 0;
  /** Said to be over. */
  toldEnd = false;
  readonly #options: ScheduleEntryOptions;
  readonly #realTime: boolean;
  /** Without its splay; null: there is none. */
  #nextMs: number | null;
  /** Given out although their time had not been lived; null: none. */
  #given: StretchSet | null = null;

  constructor(options: ScheduleEntryOptions) {
    this.task = options.task;
    this.splayMs = options.splayMs;
    this.ends = ends(options.schedule);
    this.#options = options;
    this.#realTime = countsRealTime(options.schedule);
    this.#nextMs = options.occurrences.next(options.afterMs);
  }

  /** When the next occurrence is due; null: there is none. */
  get dueMs(): number | null {
    return this.#nextMs === null ? null : this.#nextMs + this.splayMs;
  }

  get stopAtMs(): number | null {
    return this.#options.schedule.bounds?.stopAtMs ?? null;
  }

  /** The last one that a daemon of before dealt with, where that is not after this instant; -Infinity: there is none. */
  handledBy(atMs: number): number {
    const { handledMs } = this.#options;
    return handledMs === null || handledMs + this.splayMs > atMs
      ? Number.NEGATIVE_INFINITY
      : handledMs + this.splayMs;
  }

  /** The next occurrence is the first one due after this instant. */
  moveTo(afterMs: number): void {
    this.#nextMs = this.#toCome().next(Math.floor(afterMs) - this.splayMs);
  }

  /** What is due by now, by the misfire policy; the next occurrence comes after it. */
  take(nowMs: number): DueOccurrences {
    const occurrences = this.#toCome();
    const at = Math.floor(nowMs) - this.splayMs;
    const firstMs = this.#nextMs;
    const due =
      firstMs === null
        ? { run: [], catchUp: false, missed: 0, more: false, next: occurrences.next(at) }
        : dueOccurrences({ occurrences, firstMs, nowMs: at, policy: this.#options.misfire });
    this.#nextMs = due.next;
    this.#remember(due.run);
    return due;
  }

  /**
   * The clock was set back to `nowMs`: the schedule is followed from the stretch on that is lived now. True where it has
   * to be planned anew.
   */
  goBack(nowMs: number): boolean {
    if (this.#realTime && !this.#standsStill(nowMs)) return false;
    const before = this.#nextMs;
    this.moveTo(this.#options.lived.fromMs);
    return before === null || this.#nextMs !== before;
  }

  /**
   * The last occurrence is still to come: by more than the schedule stands still for, and by more than the time between
   * two of them, or a daily one would run twice for a correction of two minutes.
   */
  #standsStill(nowMs: number): boolean {
    const { occurrences } = this.#options;
    const nextMs = this.#nextMs ?? this.stopAtMs;
    if (nextMs === null) return true;
    const lastMs = occurrences.prev(nextMs);
    if (lastMs === null) return false;
    return lastMs + this.splayMs - nowMs > Math.max(STEP_BACK_MS, nextMs - lastMs);
  }

  /** The occurrences without those that have been dealt with before the present stretch. */
  #toCome(): Occurrences {
    const { occurrences, lived } = this.#options;
    const nothingElse = this.#realTime || (lived.closed.isEmpty && this.#given === null);
    return nothingElse
      ? occurrences
      : new OccurrencesOutside(occurrences, { at: (ms) => this.#dealtWith(ms) });
  }

  #dealtWith(atMs: number): Stretch | null {
    const { lived, handledMs } = this.#options;
    if (atMs === handledMs) return { fromMs: atMs - 1, toMs: atMs };
    const given = this.#given?.at(atMs) ?? null;
    if (given !== null) return given;
    const stretch = lived.closed.at(atMs + this.splayMs);
    return stretch === null
      ? null
      : { fromMs: stretch.fromMs - this.splayMs, toMs: stretch.toMs - this.splayMs };
  }

  /** What lies in the present stretch is known by it; of a one-shot the occurrence is never forgotten. */
  #remember(run: readonly number[]): void {
    const { schedule, lived } = this.#options;
    const [first] = run;
    if (first === undefined || this.#realTime) return;
    if (schedule.kind !== 'at' && first + this.splayMs > lived.fromMs) return;
    this.#given ??= new StretchSet();
    this.#given.add(first - 1, run.at(-1)!);
  }
}
