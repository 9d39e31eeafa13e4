/**
 * A change of the clocks within the next two weeks that moves, doubles or leaves out a run: the day, what the clocks do,
 * and what the task's own policy makes of it. What counts real time is not touched: a schedule that names every hour, and
 * in a repeat one whose minutes are an interval.
 */
import { DAY_MS } from '../cron-calendar.ts';
import { occurrencesOf } from '../occurrences.ts';
import { type CronSpec, goesByClocks, type LocalTimes, repeatedTimes, skippedTimes } from '../shifts.ts';
import type { TimeZones, ZoneSpan } from '../time-zones.ts';
import { dateText, type Schedules, type ScheduleWarning, timeText, zoneText } from './warning.ts';

const AHEAD_MS = 14 * DAY_MS;
/** Changes of one zone in that time: hardly ever more than one. */
const MAX_CHANGES = 4;

export function* clockChanges({ tasks, nowMs, zones }: Schedules): Iterable<ScheduleWarning> {
  for (const [task, { schedule }] of tasks.entries()) {
    if (!goesByClocks(schedule)) continue;
    for (const span of changesOf(schedule.timeZone, nowMs, zones)) {
      const message = gapMessage(schedule, span, zones) ?? repeatMessage(schedule, span, zones);
      if (message === null) continue;
      yield { task, message };
      break;
    }
  }
}

/** The spans that begin in the time looked at. */
function* changesOf(timeZone: string | null, nowMs: number, zones: TimeZones): Iterable<ZoneSpan> {
  const zone = zones.zone(timeZone);
  let span = zone.spanAt(Math.floor(nowMs / 1000) * 1000);
  for (let count = 0; count < MAX_CHANGES && span.endMs <= nowMs + AHEAD_MS; count++) {
    span = zone.spanAt(span.endMs);
    yield span;
  }
}

function gapMessage(schedule: CronSpec, span: ZoneSpan, zones: TimeZones): string | null {
  const times = skippedTimes(schedule, span);
  // Asked of `shift`, also for what is skipped: whether there would be a run at all.
  if (times === null) return null;
  if (!isDue({ ...schedule, dst: { ...schedule.dst, gap: 'shift' } }, span.startMs, zones)) return null;
  const fromMs = span.startMs + span.beforeMs;
  const toMs = span.startMs + span.offsetMs;
  const to = timeText(toMs, times.firstMs);
  const one = times.firstMs === times.lastMs;
  const runs = one ? `it runs at ${to}` : `it runs once at ${to} for all of them`;
  const policy =
    schedule.dst.gap === 'shift'
      ? `${runs} by dst.gap: shift; set dst: { gap: skip } to leave ${one ? 'that run' : 'those runs'} out`
      : `${one ? 'that run is' : 'those runs are'} left out by dst.gap: skip; set dst: { gap: shift } so that ${runs}`;
  return (
    `expected local times that exist, got ${timesText(times)}, when the clocks of ${zoneText(schedule.timeZone)} go from ` +
    `${timeText(fromMs, times.firstMs)} to ${to}: ${policy}, or choose a time of day that the clocks do not skip`
  );
}

function repeatMessage(schedule: CronSpec, span: ZoneSpan, zones: TimeZones): string | null {
  const times = schedule.fields.interval ? null : repeatedTimes(schedule, span);
  if (times === null) return null;
  const firstAtMs = times.firstMs - span.beforeMs;
  if (!isDue({ ...schedule, dst: { ...schedule.dst, repeat: 'both' } }, firstAtMs, zones)) return null;
  const { repeat } = schedule.dst;
  const one = times.firstMs === times.lastMs;
  const runs = `${one ? 'it runs' : 'they run'} ${repeat === 'both' ? 'twice' : `the ${repeat} time only`}`;
  const others = (['first', 'last', 'both'] as const).filter((other) => other !== repeat).join(' or ');
  return (
    `expected local times that come once, got ${timesText(times)}, when the clocks of ${zoneText(schedule.timeZone)} go from ` +
    `${timeText(span.startMs + span.beforeMs, times.firstMs)} back to ${timeText(span.startMs + span.offsetMs, times.firstMs)}: ` +
    `${runs} by dst.repeat: ${repeat}; set it to ${others}, or choose a time of day that does not come twice`
  );
}

/** `02:30 on Sun 2027-03-28`, `02:00 to 02:45 on Sun 2027-03-28`. */
function timesText({ firstMs, lastMs }: LocalTimes): string {
  const last = firstMs === lastMs ? '' : ` to ${timeText(lastMs, firstMs)}`;
  return `${timeText(firstMs, firstMs)}${last} on ${dateText(firstMs)}`;
}

function isDue(schedule: CronSpec, atMs: number, zones: TimeZones): boolean {
  return occurrencesOf(schedule, zones).next(atMs - 1) === atMs;
}
