/**
 * Many tasks that start within one second of the next day, and a splay that spreads them. What is looked at is bounded,
 * however many tasks there are and however often they are due: of each the next occurrences only, and where a crowd is
 * found all tasks are asked for that second.
 */
import type { ScheduleSpec } from '../../config/config.ts';
import { DAY_MS } from '../cron-calendar.ts';
import type { Occurrences } from '../cron-occurrences.ts';
import { occurrencesOf, splayOf } from '../occurrences.ts';
import type { TimeZones } from '../time-zones.ts';
import {
  counted,
  dateText,
  type Schedules,
  type ScheduleWarning,
  timeText,
  type WarnedTask,
} from './warning.ts';

/** So many tasks in one second are a crowd. */
export const CROWD = 20;
/** What a splay should bring it down to. */
const SPREAD = 5;
const MAX_CROWDS = 3;
const NAMED = 3;
/** Occurrences looked at in all, and of one schedule. */
const MAX_LOOKS = 6000;
const MAX_EACH = 1440;
/** In seconds. */
const SPLAYS = [1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600] as const;

/** Tasks that start at the same instants. */
interface Unit {
  readonly occurrences: Occurrences;
  readonly offsetMs: number;
  readonly tasks: number[];
  /** In a crowd that has been told. */
  named: boolean;
}

interface Crowded {
  readonly task: number;
  readonly name: string;
  readonly intervalMs: number;
}

export function* crowds({ tasks, nowMs, zones }: Schedules): Iterable<ScheduleWarning> {
  if (tasks.length < CROWD) return;
  const baseMs = Math.floor(nowMs / 1000) * 1000;
  const units = unitsOf(tasks, zones);
  const starts = startsOf(units, baseMs);
  for (let count = 0; count < MAX_CROWDS; count++) {
    const second = fullest(starts, units);
    if (second === -1) return;
    const atMs = baseMs + second * 1000;
    const crowd = units.filter((unit) => !unit.named && startIn(unit, atMs) !== null);
    const crowded = crowd.flatMap((unit) => membersOf(unit, tasks, atMs)).sort((a, b) => a.task - b.task);
    if (crowded.length < CROWD) return;
    for (const unit of crowd) unit.named = true;
    const { task } = crowded[0]!;
    const when = instantText(atMs, tasks[task]!.schedule, zones);
    const names = crowded.slice(0, NAMED).map(({ name }) => name);
    const message =
      `expected starts that are spread, got ${counted(crowded.length, 'task')} that start at ${when}: ${names.join(', ')} ` +
      `and ${counted(crowded.length - names.length, 'other')}; ${remedy(crowded)}`;
    yield { task, message };
  }
}

function membersOf(unit: Unit, tasks: readonly WarnedTask[], atMs: number): readonly Crowded[] {
  const intervalMs = intervalOf(unit, atMs);
  return unit.tasks.map((task) => ({ task, name: tasks[task]!.name, intervalMs }));
}

function unitsOf(tasks: readonly WarnedTask[], zones: TimeZones): readonly Unit[] {
  const units = new Map<string, Unit>();
  for (const [index, { name, schedule, splayMs }] of tasks.entries()) {
    if (schedule === null) continue;
    const offsetMs = splayOf(name, splayMs);
    const key = `${offsetMs} ${JSON.stringify(schedule)}`;
    const unit = units.get(key);
    if (unit !== undefined) unit.tasks.push(index);
    else {
      const occurrences = occurrencesOf(schedule, zones);
      units.set(key, { occurrences, offsetMs, tasks: [index], named: false });
    }
  }
  return [...units.values()];
}

/** Sorted: the second from the base on × the number of units + which unit starts in it. */
function startsOf(units: readonly Unit[], baseMs: number): Float64Array {
  const each = Math.min(MAX_EACH, Math.max(1, Math.floor(MAX_LOOKS / units.length)));
  const starts = new Float64Array(each * units.length);
  let count = 0;
  for (const [index, unit] of units.entries()) {
    let second = 0;
    for (let looks = 0; looks < each; looks++) {
      const atMs = unit.occurrences.next(baseMs + second * 1000 - 1 - unit.offsetMs);
      if (atMs === null) break;
      second = Math.floor((atMs + unit.offsetMs - baseMs) / 1000);
      if (second * 1000 >= DAY_MS) break;
      starts[count++] = second * units.length + index;
      second++;
    }
  }
  return starts.subarray(0, count).sort();
}

/** The second in which most tasks start, the first of several; -1: there is none. */
function fullest(starts: Float64Array, units: readonly Unit[]): number {
  let best = -1;
  let most = 0;
  let second = -1;
  let size = 0;
  for (const start of starts) {
    const at = Math.floor(start / units.length);
    const unit = units[start % units.length]!;
    if (at !== second) size = 0;
    second = at;
    if (!unit.named) size += unit.tasks.length;
    if (size <= most) continue;
    most = size;
    best = at;
  }
  return best;
}

/** The occurrence of the unit with which it starts in that second. */
function startIn({ occurrences, offsetMs }: Unit, secondMs: number): number | null {
  const atMs = occurrences.next(secondMs - 1 - offsetMs);
  return atMs !== null && atMs + offsetMs < secondMs + 1000 ? atMs : null;
}

/** How long until it is due again. */
function intervalOf(unit: Unit, secondMs: number): number {
  const atMs = startIn(unit, secondMs);
  const nextMs = atMs === null ? null : unit.occurrences.next(atMs);
  return atMs === null || nextMs === null ? Number.POSITIVE_INFINITY : nextMs - atMs;
}

interface Spread {
  readonly seconds: number;
  /** Tasks that are due rarely enough: with a longer splay a start would come after the next occurrence. */
  readonly moved: number;
  /** That start in one second then. */
  readonly most: number;
}

function remedy(crowded: readonly Crowded[]): string {
  let found: Spread | null = null;
  for (const seconds of SPLAYS) {
    const spread = spreadBy(crowded, seconds);
    if (found === null || spread.most < found.most) found = spread;
    if (spread.most <= SPREAD || spread.moved === 0) break;
  }
  if (found === null || found.most === crowded.length)
    return 'let some of them run less often, or at other times';
  const where =
    found.moved === crowded.length
      ? 'in each of them, or in defaults,'
      : `in the ${counted(found.moved, 'task')} that are due less often than that`;
  return `with splay_seconds: ${found.seconds} ${where} at most ${found.most} would start in one second`;
}

/** The splay of a task is known by its name, and with it what a splay would do. */
function spreadBy(crowded: readonly Crowded[], seconds: number): Spread {
  const starts = new Map<number, number>();
  let moved = 0;
  let most = 0;
  for (const { name, intervalMs } of crowded) {
    if (intervalMs < seconds * 1000) continue;
    moved++;
    const second = Math.floor(splayOf(name, seconds * 1000) / 1000);
    const count = (starts.get(second) ?? 0) + 1;
    starts.set(second, count);
    most = Math.max(most, count);
  }
  return { seconds, moved, most: most + crowded.length - moved };
}

/** `02:00 on Tue 2026-12-01 (Europe/Berlin)`. */
function instantText(atMs: number, schedule: ScheduleSpec | null, zones: TimeZones): string {
  const timeZone = schedule?.kind === 'cron' ? schedule.timeZone : 'UTC';
  const localMs = atMs + zones.zone(timeZone).spanAt(atMs).offsetMs;
  return `${timeText(localMs, localMs)} on ${dateText(localMs)} (${timeZone ?? 'local time'})`;
}
