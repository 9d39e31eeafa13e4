/** The daemon at a glance: what it is, what waits, what runs, what it costs. */
import type { StatusDocument } from '../../../actors/control/index.ts';
import type { Colour, Paint } from './paint.ts';
import { cutToWidth, oneLine, tasksText, wrap } from './text.ts';
import { megabytes, uptimeText } from './time.ts';

export interface StatusOptions {
  readonly isTTY: boolean;
  readonly columns: number;
  readonly paint: Paint;
}

const WIDEST_BAR = 30;
const NARROWEST_BAR = 4;

export function statusText(status: StatusDocument, options: StatusOptions): string {
  return options.isTTY ? screen(status, options) : plain(status);
}

function screen(status: StatusDocument, { columns, paint }: StatusOptions): string {
  const state = status.stopping ? 'stopping' : status.ready_ms === null ? 'starting' : 'running';
  const config = status.config_version === null ? '' : `, config ${oneLine(status.config_version)}`;
  // How long it has been stopping is not known.
  const since = `${status.stopping ? ', up' : ' for'} ${uptimeText(status.uptime_seconds)}`;
  const head = `colibri ${status.version} ${state}${since}, pid ${status.pid}${config}`;
  const lines: string[] = [paint.paint('bold', cutToWidth(head, columns))];
  if (status.config_file !== null) lines.push(cutToWidth(oneLine(status.config_file), columns));
  lines.push(
    cutToWidth(`${tasksText(status.tasks, status.flows)}, ${status.live_runs} live runs`, columns),
    '',
  );
  const queues = status.queues.map(({ name, depth, capacity, rejected }): Meter => {
    return { name, used: depth, capacity, note: rejected > 0 ? `  ${rejected} refused` : '' };
  });
  const pools = status.pools.map(({ name, active, slots, busy_ratio: busy }): Meter => {
    return { name, used: active, capacity: slots, note: `  ${Math.round(busy * 100)} % busy` };
  });
  const bounds = status.bounds.flatMap(boundMeter);
  const meters = [...queues, ...pools, ...bounds];
  const nameWidth = Math.max(6, ...meters.map(({ name }) => name.length));
  const draw = meterPen(meters, nameWidth, columns, paint);
  lines.push(...queues.map(draw), '', ...pools.map(draw));
  if (bounds.length > 0) lines.push('', ...bounds.map(draw));
  for (const { kind, name, held, concurrency } of status.bounds) {
    if (held === 0 || (kind !== 'key' && concurrency !== null)) continue;
    lines.push(cutToWidth(`${kind} ${name}: ${held} held back`, columns));
  }
  for (const { queue, high } of status.pressures) {
    if (!high) continue;
    lines.push(paint.paint('yellow', cutToWidth(`${queue} is nearly full: its sources wait`, columns)));
  }
  const { rss, anon, file } = status.memory;
  const memory = `${'memory'.padEnd(nameWidth)}  ${megabytes(rss)} (anon ${megabytes(anon)}, file ${megabytes(file)})`;
  lines.push('', cutToWidth(memory, columns));
  for (const line of storeTrouble(status.store, columns)) lines.push(paint.paint('red', line));
  if (status.dead_letters > 0) {
    const hint = `dead letters: ${status.dead_letters}, see colibri dead list`;
    lines.push(paint.paint('yellow', cutToWidth(hint, columns)));
  }
  for (const [thread, count] of Object.entries(status.thread_restarts)) {
    if (count > 0)
      lines.push(paint.paint('yellow', cutToWidth(`thread ${thread} replaced: ${count}`, columns)));
  }
  return `${lines.join('\n')}\n`;
}

/** A bar for what has a number of places in all: not for a rate alone, nor for keys, which have some each. */
function boundMeter({ kind, name, concurrency, active, held }: StatusDocument['bounds'][number]): Meter[] {
  if (concurrency === null || kind === 'key') return [];
  const title = kind === 'all' ? 'all runs' : `${kind} ${oneLine(name)}`;
  return [{ name: title, used: active, capacity: concurrency, note: held > 0 ? `  ${held} held back` : '' }];
}

function storeTrouble({ writable, reason, unrecorded }: StatusDocument['store'], columns: number): string[] {
  if (writable) return [];
  const text =
    `the journal cannot be written: ${oneLine(reason ?? 'the reason is not known')}; triggers are refused, the rest goes ` +
    `on, and ${unrecorded} transitions of runs wait to be kept`;
  return wrap(text, columns).map((line) => cutToWidth(line, columns));
}

interface Meter {
  readonly name: string;
  readonly used: number;
  readonly capacity: number;
  readonly note: string;
}

/**
 * Draws `ready   [####------]  40/100  3 refused`. All bars have one length; on a narrow terminal the notes go
 * first, then the bars.
 */
function meterPen(
  meters: readonly Meter[],
  nameWidth: number,
  columns: number,
  paint: Paint,
): (meter: Meter) => string {
  const count = ({ used, capacity }: Meter): string => `${used}/${capacity}`;
  const room = (text: (meter: Meter) => string): number => {
    return columns - nameWidth - 6 - Math.max(0, ...meters.map((meter) => text(meter).length));
  };
  const withNotes = room((meter) => count(meter) + meter.note) >= NARROWEST_BAR;
  const tail = (meter: Meter): string => (withNotes ? count(meter) + meter.note : count(meter));
  const length = Math.min(WIDEST_BAR, room(tail));
  return (meter) => {
    const head = `${meter.name.padEnd(nameWidth)}  `;
    if (length < NARROWEST_BAR) return cutToWidth(head + tail(meter), columns);
    return `${head}[${bar(meter, length, paint)}]  ${tail(meter)}`;
  };
}

function bar({ used, capacity }: Meter, length: number, paint: Paint): string {
  const share = capacity <= 0 ? 0 : Math.min(1, used / capacity);
  // What holds anything never looks empty.
  const filled = used > 0 ? Math.max(1, Math.round(share * length)) : 0;
  const colour: Colour = share >= 0.9 ? 'red' : share >= 0.6 ? 'yellow' : 'green';
  return paint.paint(colour, '#'.repeat(filled)) + '-'.repeat(length - filled);
}

/** One `key<TAB>value` a line. */
function plain(status: StatusDocument): string {
  const rows: [string, string | number | null][] = [
    ['version', status.version],
    ['pid', status.pid],
    ['state', status.stopping ? 'stopping' : status.ready_ms === null ? 'starting' : 'running'],
    ['config_version', status.config_version],
    ['config_file', status.config_file],
    ['uptime_seconds', status.uptime_seconds],
    ['tasks', status.tasks],
    ['flows', status.flows],
    ['live_runs', status.live_runs],
    ['dead_letters', status.dead_letters],
    ['memory_rss_bytes', status.memory.rss],
    ['memory_anon_bytes', status.memory.anon],
    ['memory_file_bytes', status.memory.file],
    ['store_kind', status.store.kind],
    ['store_writable', status.store.writable ? 'yes' : 'no'],
    ['store_reason', status.store.reason],
    ['store_unrecorded', status.store.unrecorded],
    ...status.queues.map((q): [string, string] => [`queue_${q.name}`, `${q.depth}/${q.capacity}`]),
    ...status.pools.map((p): [string, string] => [`pool_${p.name}`, `${p.active}/${p.slots}`]),
    ...status.bounds.flatMap(({ kind, name, active, concurrency, held }): [string, string | number][] => {
      const key = kind === 'all' ? kind : `${kind}_${name}`;
      return [
        [`active_${key}`, kind === 'key' || concurrency === null ? active : `${active}/${concurrency}`],
        [`held_back_${key}`, held],
      ];
    }),
    ...status.pressures.map((p): [string, string] => [`high_water_${p.queue}`, p.high ? 'yes' : 'no']),
  ];
  return rows.map(([key, value]) => `${key}\t${oneLine(value ?? '-')}\n`).join('');
}
