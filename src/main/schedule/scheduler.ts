/**
 * The scheduler: one heap entry per scheduled task, keyed by wall time, one capped timer for all. It says only
 * *what is due*; whether and where it runs is decided by others.
 *
 * An occurrence is given out once: the next one is computed from the last occurrence, never from "now", so a
 * timer that wakes early, late or twice changes nothing.
 */
import { type DelayEngine, HeapDelayEngine } from '../../actors/delay/index.ts';
import type { Clock } from '../../actors/kernel/index.ts';
import type { MisfirePolicy, ScheduleSpec } from '../config/config.ts';
import type { Occurrences } from './cron.ts';
import { dueOccurrences } from './misfire.ts';
import { occurrencesOf, splayOf } from './occurrences.ts';

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
  readonly onMissed: (task: string, count: number) => void;
}

interface Entry {
  readonly task: ScheduledTask;
  readonly occurrences: Occurrences;
  readonly splayMs: number;
  /** The next occurrence, without its splay. */
  nextMs: number;
}

export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #engine: DelayEngine<Entry>;
  readonly #entries = new Map<string, Entry>();
  #started = false;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#engine = new HeapDelayEngine<Entry>({
      clock: options.clock,
      now: () => options.clock.wallMs(),
      onDue: (entry) => this.#due(entry),
    });
  }

  /** Occurrences after this moment are given out. Idempotent. */
  start(): void {
    if (this.#started) return;
    this.#started = true;
    const now = this.#options.clock.wallMs();
    for (const task of this.#options.tasks) {
      if (task.runOnStart) this.#options.onDue(task.name, now, 'start');
      if (task.schedule === null) continue;
      const occurrences = occurrencesOf(task.schedule);
      const next = occurrences.next(now);
      if (next === null) continue;
      const entry = { task, occurrences, splayMs: splayOf(task.name, task.splayMs), nextMs: next };
      this.#entries.set(task.name, entry);
      this.#engine.schedule(next + entry.splayMs, entry);
    }
  }

  /** When a task runs next by its schedule; null: not at all. */
  nextOf(task: string): number | null {
    const entry = this.#entries.get(task);
    return entry === undefined ? null : entry.nextMs + entry.splayMs;
  }

  /** Nothing is due any more. Idempotent. */
  stop(): void {
    this.#engine.close();
    this.#entries.clear();
  }

  #due(entry: Entry): void {
    const { task, occurrences, splayMs } = entry;
    const nowMs = this.#options.clock.wallMs() - splayMs;
    const due = dueOccurrences({ occurrences, firstMs: entry.nextMs, nowMs, policy: task.misfire });
    if (due.next === null) this.#entries.delete(task.name);
    else {
      entry.nextMs = due.next;
      this.#engine.schedule(due.next + splayMs, entry);
    }
    if (due.missed > 0) this.#options.onMissed(task.name, due.missed);
    for (const occurrence of due.run) this.#options.onDue(task.name, occurrence, 'schedule');
  }
}
