/**
 * The table of expected instants, `zones.expected.txt`: how it is written and read. Each row was worked out by the
 * scan in `zones-scan.ts`. A runtime that knows other rules for these years wants it written anew, which takes a
 * minute: `node test/schedule/zones-table.ts > test/schedule/zones.expected.txt`.
 */
import { readFileSync } from 'node:fs';
import { type ClockScan, instantsOfScan, jumps, scanClock } from './zones-scan.ts';

const FILE = new URL('zones.expected.txt', import.meta.url);
const HOUR_MS = 3_600_000;
const AROUND_MS = 10 * HOUR_MS;
const POLICIES = ['shift/first', 'shift/last', 'shift/both', 'skip/first', 'skip/last', 'skip/both'];
/** Policies that often come to the same, by what they have in common. */
const SHORT = new Map([
  ['any', POLICIES],
  ...['shift', 'skip', 'first', 'last', 'both'].map(
    (word) => [word, POLICIES.filter((policy) => policy.split('/').includes(word))] as const,
  ),
]);
const WEEKDAYS = 'sun mon tue wed thu fri sat'.split(' ');

/** The years, from the first to the last. Around the changes of all, and the first as a whole. */
const YEARS: Readonly<Record<string, readonly [number, number]>> = {
  'Africa/Casablanca': [2026, 2026],
  'America/Los_Angeles': [2026, 2026],
  'America/New_York': [2026, 2026],
  'America/Sao_Paulo': [2014, 2018],
  'America/St_Johns': [2010, 2010],
  'Asia/Kolkata': [2026, 2026],
  'Asia/Tehran': [2021, 2021],
  'Atlantic/Azores': [2026, 2026],
  'Australia/Lord_Howe': [2026, 2026],
  'Australia/Sydney': [2026, 2026],
  'Europe/Amsterdam': [2023, 2023],
  'Europe/Berlin': [2026, 2026],
  'Europe/Lisbon': [2025, 2025],
  'Europe/Rome': [2024, 2024],
  'Pacific/Apia': [2011, 2011],
  'Pacific/Chatham': [2026, 2026],
  UTC: [2024, 2024],
};

export interface TableRow {
  readonly zone: string;
  readonly expression: string;
  /** `gap/repeat`: all under which it comes to these instants. */
  readonly policies: readonly string[];
  readonly fromMs: number;
  readonly toMs: number;
  /** `2026-03-29 00:30 01:30:15 2026-03-30 00:30`, in UTC. */
  readonly instants: string;
}

export function readTable(): TableRow[] {
  return readFileSync(FILE, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('# '))
    .map((line) => {
      const [zone = '', expression = '', policies = '', from = '', to = '', instants = ''] = line.split('\t');
      return {
        zone,
        expression,
        policies: SHORT.get(policies) ?? policies.split(' '),
        fromMs: Date.parse(`${from}Z`),
        toMs: Date.parse(`${to}Z`),
        instants,
      };
    });
}

export function instantsOf({ instants }: TableRow): number[] {
  let day = '';
  return instants.split(' ').flatMap((word) => {
    if (/^\d+:/.test(word)) return [Date.parse(`${day}T${word}Z`)];
    day = word;
    return [];
  });
}

function textOf(instants: readonly number[]): string {
  let last = '';
  return instants
    .flatMap((at) => {
      const [day = '', time = ''] = new Date(at).toISOString().split('T');
      const words = [...(day === last ? [] : [day]), time.slice(0, at % 60_000 === 0 ? 5 : 8)];
      last = day;
      return words;
    })
    .join(' ');
}

function rowsOf(zone: string, scan: ClockScan, expressions: readonly string[]): string[] {
  const minute = (at: number) => new Date(at).toISOString().slice(0, 16);
  return expressions.flatMap((expression) => {
    const byInstants = Map.groupBy(POLICIES, (policy) => {
      const [gap = '', repeat = ''] = policy.split('/');
      return textOf(instantsOfScan(scan, expression, { gap, repeat }));
    });
    return [...byInstants].map(([instants, policies]) => {
      const short = [...SHORT].find(([, all]) => all.join() === policies.join())?.[0] ?? policies.join(' ');
      return [zone, expression, short, minute(scan.fromMs), minute(scan.toMs), instants].join('\t');
    });
  });
}

function rowsOfZone(zone: string): string[] {
  const [first, last] = YEARS[zone]!;
  const years = Array.from({ length: last - first + 1 }, (_, index) =>
    scanClock(zone, Date.UTC(first + index, 0, 1), Date.UTC(first + index + 1, 0, 1)),
  );
  const changes = years.flatMap((year) => jumps(year));
  const places = changes.length > 0 ? changes : [{ atMs: Date.UTC(first, 2, 1), earliest: NO_CHANGE }];
  const around = places.flatMap(({ atMs, earliest: { hour, day, month } }) => {
    const [one = 0, other = 0] = [hour, (hour + 1) % 24].sort((a, b) => a - b);
    return rowsOf(zone, scanClock(zone, atMs - AROUND_MS, atMs + AROUND_MS), [
      `15,40 ${hour} * * *`,
      `0 ${hour === 0 ? '0,12' : `0,${hour}`} * * *`,
      `*/20 ${one},${other} * * *`,
      '10 */3 * * *',
      `45 * ${day} * *`,
      `5,50 20 ${hour} * * *`,
      `30 ${hour} ${day} ${month} *`,
    ]);
  });
  const { hour, day, weekday } = places[0]!.earliest;
  const whole = rowsOf(zone, years[0]!, [
    `30 ${hour} L * *`,
    `15 ${hour} * * ${WEEKDAYS[weekday]}#${Math.ceil(day / 7)}`,
    `15 ${hour} * * ${weekday}L`,
    '0 12 ? */2 5L',
    '0 0 1 jan-dec/3 ?',
    '0 9 29-31 2,4,5 *',
    `15,45 30 ${hour} L feb,nov *`,
    `5 ${hour} 13 3-5 fri`,
  ]);
  return [...around, ...whole];
}

const NO_CHANGE = { month: 3, day: 1, weekday: 0, hour: 2 };

if (import.meta.main) {
  process.stdout.write('# zone, expression, policies of dst, from, to, instants; in UTC\n');
  for (const zone of Object.keys(YEARS)) process.stdout.write(`${rowsOfZone(zone).join('\n')}\n`);
}
