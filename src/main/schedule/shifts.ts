/**
 * Runs that a change of the clocks moves: a local time that a gap swallows runs at the first instant after it. Which
 * local times those are, for what warns of them before and for what tells of them when they run.
 */
import type { ScheduleSpec } from '../config/config.ts';
import { firstCounted, lastCounted } from './counted-locals.ts';
import { namesEveryHour, SECOND_MS } from './cron-calendar.ts';
import { TimeZones, type ZoneSpan } from './time-zones.ts';

export type CronSpec = Extract<ScheduleSpec, { kind: 'cron' }>;

/** In local ms: local time counted as if it were UTC. */
export interface LocalTimes {
  readonly firstMs: number;
  readonly lastMs: number;
}

const MINUTE_MS = 60_000;

/** The local times of a schedule that the gap before a span swallows; null: there are none. */
export function skippedTimes(schedule: CronSpec, span: ZoneSpan): LocalTimes | null {
  return timesWithin(schedule, span.startMs + span.beforeMs, span.startMs + span.offsetMs);
}

/** Those that come in a span although they came in the one before; null: there are none. */
export function repeatedTimes(schedule: CronSpec, span: ZoneSpan): LocalTimes | null {
  return timesWithin(schedule, span.startMs + span.offsetMs, span.startMs + span.beforeMs);
}

/** Whether changes of the clocks are anything to the schedule. */
export function goesByClocks(schedule: ScheduleSpec | null): schedule is CronSpec {
  return schedule?.kind === 'cron' && !namesEveryHour(schedule.fields);
}

/** `2023-03-26T02:30`, with seconds where there are any. */
export function localText(localMs: number): string {
  return new Date(localMs).toISOString().slice(0, localMs % MINUTE_MS === 0 ? 16 : 19);
}

/** The fields of the log line for a run that was moved. */
export interface ShiftFields {
  readonly task: string;
  readonly local_time: string;
  /** Where it stands for several: the last of them. */
  readonly last_local_time?: string;
  readonly time_zone: string;
  readonly due: string;
}

type Task = { readonly name: string; readonly schedule: ScheduleSpec | null };

/** Knows of the occurrences of a daemon which ones were moved. Costs two comparisons where no clocks change. */
export class Shifts {
  readonly #tasks: readonly Task[];
  readonly #zones = new TimeZones();
  readonly #zoneNames: ReadonlySet<string | null>;
  /** After the first and before the second no clocks change. */
  #sinceMs = Number.POSITIVE_INFINITY;
  #untilMs = Number.NEGATIVE_INFINITY;
  /** While clocks change. */
  #schedules: ReadonlyMap<string, CronSpec> | null = null;

  constructor(tasks: readonly Task[]) {
    this.#tasks = tasks;
    this.#zoneNames = new Set(movable(tasks).map(([, { timeZone }]) => timeZone));
  }

  /** Null: the occurrence was not moved. `occurrenceMs` is without splay. */
  of(task: string, occurrenceMs: number): ShiftFields | null {
    if (occurrenceMs > this.#sinceMs && occurrenceMs < this.#untilMs) return null;
    if (!this.#isChange(occurrenceMs)) {
      this.#schedules = null;
      return null;
    }
    this.#schedules ??= new Map(movable(this.#tasks));
    const schedule = this.#schedules.get(task);
    if (schedule === undefined) return null;
    const span = this.#zones.zone(schedule.timeZone).spanAt(occurrenceMs);
    const times = span.startMs === occurrenceMs ? skippedTimes(schedule, span) : null;
    if (times === null) return null;
    return {
      task,
      local_time: localText(times.firstMs),
      ...(times.lastMs === times.firstMs ? {} : { last_local_time: localText(times.lastMs) }),
      time_zone: schedule.timeZone ?? Temporal.Now.timeZoneId(),
      due: new Date(occurrenceMs).toISOString(),
    };
  }

  /** Whether the clocks of any zone change with that instant; finds out when they do before and after it. */
  #isChange(atMs: number): boolean {
    const secondMs = Math.floor(atMs / SECOND_MS) * SECOND_MS;
    this.#sinceMs = Number.NEGATIVE_INFINITY;
    this.#untilMs = Number.POSITIVE_INFINITY;
    for (const name of this.#zoneNames) {
      const { startMs, endMs } = this.#zones.zone(name).spanAt(secondMs);
      this.#sinceMs = Math.max(this.#sinceMs, startMs);
      this.#untilMs = Math.min(this.#untilMs, endMs);
    }
    return this.#sinceMs === atMs;
  }
}

function movable(tasks: readonly Task[]): readonly (readonly [string, CronSpec])[] {
  return tasks.flatMap(({ name, schedule }) =>
    goesByClocks(schedule) && schedule.dst.gap === 'shift' ? [[name, schedule] as const] : [],
  );
}

function timesWithin({ fields, bounds }: CronSpec, fromMs: number, endMs: number): LocalTimes | null {
  if (!(fromMs < endMs)) return null;
  const exclude = bounds?.exclude ?? [];
  const firstMs = firstCounted(fields, exclude, fromMs);
  if (firstMs === null || firstMs >= endMs) return null;
  return { firstMs, lastMs: lastCounted(fields, exclude, endMs - SECOND_MS) ?? firstMs };
}
