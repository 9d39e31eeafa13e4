/**
 * The instants of a cron expression by looking at every minute: `Intl.DateTimeFormat` says what the clock of the
 * zone shows, and each field is read and asked here. It shares no line with the evaluator and none with cron-parser,
 * and knows of gaps and repeats only what it sees: minutes that are left out, and minutes that come again.
 */
const MINUTE_MS = 60_000;
/** No clock was set back by more, in the years that are looked at. */
const MARGIN_MS = 3 * 3_600_000;
const NAMES = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const WEEKDAYS = 'sun mon tue wed thu fri sat'.split(' ');

/** What the clock shows in one minute. */
interface Shown {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly weekday: number;
  readonly hour: number;
  readonly minute: number;
  /** Minutes since 1970, on a clock that is never changed. */
  readonly count: number;
}

/** What the clock of a zone shows from an instant on, one entry a minute. */
export interface ClockScan {
  readonly fromMs: number;
  readonly toMs: number;
  readonly shown: readonly Shown[];
}

/** The minutes from `fromMs` to `toMs`, and some on either side. */
export function scanClock(zone: string, fromMs: number, toMs: number): ClockScan {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    weekday: 'short',
    hour: 'numeric',
    minute: 'numeric',
  });
  const shown: Shown[] = [];
  for (let at = fromMs - MARGIN_MS; at < toMs + MARGIN_MS; at += MINUTE_MS) {
    const parts: Record<string, string> = {};
    for (const { type, value } of format.formatToParts(at)) parts[type] = value;
    const [year, month, day] = [Number(parts.year), Number(parts.month), Number(parts.day)];
    const [hour, minute] = [Number(parts.hour), Number(parts.minute)];
    const weekday = WEEKDAYS.indexOf(parts.weekday!.toLowerCase());
    const count = Date.UTC(year, month - 1, day, hour, minute) / MINUTE_MS;
    shown.push({ year, month, day, weekday, hour, minute, count });
  }
  return { fromMs, toMs, shown };
}

interface Jump {
  readonly atMs: number;
  /** What the clock would have shown, and what it shows. */
  readonly from: Shown;
  readonly to: Shown;
  /** The earliest time that is left out, or comes again. */
  readonly earliest: Shown;
}

/** Where the clock is not a minute on from the minute before. */
export function jumps(scan: ClockScan): Jump[] {
  return scan.shown.flatMap((to, index) => {
    if (index === 0) return [];
    const forward = to.count - scan.shown[index - 1]!.count - 1;
    if (forward === 0) return [];
    const from = fromCount(to.count - forward);
    return [{ atMs: atOf(scan, index), from, to, earliest: forward > 0 ? from : to }];
  });
}

export interface ScanPolicy {
  readonly gap: string;
  readonly repeat: string;
}

/** The instants of an expression within the scan. */
export function instantsOfScan(scan: ClockScan, expression: string, policy: ScanPolicy): number[] {
  const atoms = expression.split(' ');
  if (atoms.length === 5) atoms.unshift('0');
  const seconds = [...numbers(atoms[0]!, 0, 59)];
  const hours = numbers(atoms[2]!, 0, 23);
  const both = policy.repeat === 'both' || hours.size === 24 || /^\*(\/\d+)?$/.test(atoms[1]!);
  const fits = minuteMatcher(atoms);
  /** Minutes as the clock counts them → where they are shown. */
  const places = new Map<number, number[]>();
  for (const [index, shown] of scan.shown.entries()) {
    if (fits(shown)) places.set(shown.count, [...(places.get(shown.count) ?? []), index]);
  }
  const found = new Set<number>();
  for (const all of places.values()) {
    for (const index of both ? all : [policy.repeat === 'first' ? all[0]! : all.at(-1)!]) {
      for (const second of seconds) found.add(atOf(scan, index) + second * 1000);
    }
  }
  if (policy.gap === 'shift' && hours.size < 24) {
    for (const { atMs, from, to } of jumps(scan)) {
      for (let count = from.count; count < to.count; count++) if (fits(fromCount(count))) found.add(atMs);
    }
  }
  return [...found].filter((at) => at >= scan.fromMs && at < scan.toMs).sort((a, b) => a - b);
}

/** `atoms`: six fields. */
function minuteMatcher(atoms: readonly string[]): (shown: Shown) => boolean {
  const [, minute = '', hour = '', dayText = '', month = '', weekText = ''] = atoms;
  const minutes = numbers(minute, 0, 59);
  const hours = numbers(hour, 0, 23);
  const months = numbers(month, 1, 12, NAMES);
  const days = numbers(dayText.replace(/,?L/, '') || '32', 1, 31);
  const [weekdayText = '', nth] = weekText.split('#');
  const weekdays = numbers(weekdayText.replace('L', ''), 0, 7, WEEKDAYS);
  if (weekdays.has(7)) weekdays.add(0);
  const isDay = ({ year, month: at, day }: Shown) =>
    days.has(day) || (dayText.includes('L') && day === lastDay(year, at));
  const isWeekday = ({ year, month: at, day, weekday }: Shown) =>
    weekdays.has(weekday) &&
    (nth === undefined || Math.ceil(day / 7) === Number(nth)) &&
    (!weekText.includes('L') || day + 7 > lastDay(year, at));
  const [anyDay, anyWeekday] = [/^[*?]$/.test(dayText), /^[*?]$/.test(weekText)];
  return (shown) => {
    if (!minutes.has(shown.minute) || !hours.has(shown.hour) || !months.has(shown.month)) return false;
    if (anyDay) return isWeekday(shown);
    return isDay(shown) || (!anyWeekday && isWeekday(shown));
  };
}

/** Lists of numbers, names, ranges and steps. */
function numbers(text: string, min: number, max: number, names: readonly string[] = []): Set<number> {
  const found = new Set<number>();
  const value = (one: string) => (names.includes(one) ? names.indexOf(one) + min : Number(one));
  for (const item of text.split(',')) {
    const [range = '', step] = item.split('/');
    const [from = '', to] = /^[*?]$/.test(range) ? [`${min}`, `${max}`] : range.split('-');
    const last = to === undefined ? (step === undefined ? value(from) : max) : value(to);
    for (let one = value(from); one <= last; one += Number(step ?? 1)) found.add(one);
  }
  return found;
}

function lastDay(year: number, month: number): number {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]!;
}

function fromCount(count: number): Shown {
  const date = new Date(count * MINUTE_MS);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    weekday: date.getUTCDay(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    count,
  };
}

function atOf(scan: ClockScan, index: number): number {
  return scan.fromMs - MARGIN_MS + index * MINUTE_MS;
}
