/** The daemon at a glance: what it is, what waits, what runs, what it costs. */
import type { StatusDocument } from '../../../actors/control/index.ts';
import type { Colour, Paint } from './paint.ts';
import { cutToWidth, oneLine } from './text.ts';
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
  const head = `colibri ${status.version} ${state} for ${uptimeText(status.uptime_seconds)}, pid ${status.pid}${config}`;
  const lines: string[] = [paint.paint('bold', cutToWidth(head, columns))];
  if (status.config_file !== null) lines.push(cutToWidth(oneLine(status.config_file), columns));
  lines.push(cutToWidth(`${status.tasks} tasks, ${status.live_runs} live runs`, columns), '');
  const names = [...status.queues, ...status.pools].map(({ name }) => name.length);
  const nameWidth = Math.max(6, ...names);
  for (const queue of status.queues) {
    const note = queue.rejected > 0 ? ` ${queue.rejected} refused` : '';
    lines.push(meter(queue.name, nameWidth, queue.depth, queue.capacity, note, columns, paint));
  }
  lines.push('');
  for (const pool of status.pools) {
    const note = ` ${Math.round(pool.busy_ratio * 100)} % busy`;
    lines.push(meter(pool.name, nameWidth, pool.active, pool.slots, note, columns, paint));
  }
  const { rss, anon, file } = status.memory;
  const memory = `${'memory'.padEnd(nameWidth)}  ${megabytes(rss)} (anon ${megabytes(anon)}, file ${megabytes(file)})`;
  lines.push('', cutToWidth(memory, columns));
  if (status.dead_letters > 0) {
    const hint = `${status.dead_letters} dead letters: colibri dead list`;
    lines.push(paint.paint('yellow', cutToWidth(hint, columns)));
  }
  for (const [thread, count] of Object.entries(status.thread_restarts)) {
    if (count > 0)
      lines.push(paint.paint('yellow', cutToWidth(`thread ${thread} replaced ${count} times`, columns)));
  }
  return `${lines.join('\n')}\n`;
}

/** `ready   [####------]  40/100  3 refused`; on a narrow terminal the note goes first, then the bar. */
function meter(
  name: string,
  nameWidth: number,
  used: number,
  capacity: number,
  note: string,
  columns: number,
  paint: Paint,
): string {
  const head = `${name.padEnd(nameWidth)}  `;
  const count = `${used}/${capacity}`;
  const room = columns - head.length - count.length - 4;
  const withNote = room - note.length >= NARROWEST_BAR;
  const barWidth = Math.min(WIDEST_BAR, withNote ? room - note.length : room);
  const tail = withNote ? `${count}${note}` : count;
  if (barWidth < NARROWEST_BAR) return cutToWidth(head + tail, columns);
  const share = capacity <= 0 ? 0 : Math.min(1, used / capacity);
  // A queue that holds anything never looks empty.
  const filled = used > 0 ? Math.max(1, Math.round(share * barWidth)) : 0;
  const colour: Colour = share >= 0.9 ? 'red' : share >= 0.6 ? 'yellow' : 'green';
  const bar = paint.paint(colour, '#'.repeat(filled)) + '-'.repeat(barWidth - filled);
  return `${head}[${bar}]  ${tail}`;
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
    ['live_runs', status.live_runs],
    ['dead_letters', status.dead_letters],
    ['memory_rss_bytes', status.memory.rss],
    ['memory_anon_bytes', status.memory.anon],
    ['memory_file_bytes', status.memory.file],
    ...status.queues.map((q): [string, string] => [`queue_${q.name}`, `${q.depth}/${q.capacity}`]),
    ...status.pools.map((p): [string, string] => [`pool_${p.name}`, `${p.active}/${p.slots}`]),
  ];
  return rows.map(([key, value]) => `${key}\t${oneLine(value ?? '-')}\n`).join('');
}
