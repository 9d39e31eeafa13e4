/** From the start of the process to its `ready` line, measured from outside, with 200 cron tasks. */
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { median } from './bench-row.ts';
import { cronTasks } from './footprint-config.ts';
import { BuiltDaemon, filesOf, type Target } from './footprint-daemon.ts';
import { type BoundedRow, figureRow, MB } from './footprint-rows.ts';

export interface StartOptions {
  readonly target: Target;
  readonly dir: string;
  readonly starts: number;
  readonly coldStarts: number;
}

const START_MS = { atMost: 200 } as const;

export async function benchStart({ target, dir, starts, coldStarts }: StartOptions): Promise<BoundedRow[]> {
  const folder = join(dir, `${target}-start`);
  const rows = await startRows(`${target}, start`, folder, { target, starts });
  const missing = evictFiles(target);
  if (missing !== null) {
    console.log(`  (${target}: without cold starts, ${missing})`);
    return rows;
  }
  const note = cachedNote(target);
  const evict = () => void evictFiles(target);
  return [
    ...rows,
    ...(await startRows(`${target}, cold start`, folder, { target, starts: coldStarts, evict, note })),
  ];
}

interface Starts {
  readonly target: Target;
  readonly starts: number;
  /** Before each start. Without it, one start that is not counted warms the file cache. */
  readonly evict?: () => void;
  readonly note?: string;
}

async function startRows(name: string, dir: string, options: Starts): Promise<BoundedRow[]> {
  const { target, starts, evict, note } = options;
  const outside: number[] = [];
  const inside: number[] = [];
  for (let start = evict === undefined ? -1 : 0; start < starts; start++) {
    evict?.();
    const daemon = await BuiltDaemon.start(target, dir, { tasks: cronTasks() });
    await daemon.stop();
    if (start < 0) continue;
    outside.push(daemon.startMs);
    inside.push(daemon.ownStartMs);
  }
  // The bound is of a start from the cache; what a cold one takes is the disk's affair.
  const bound = evict === undefined ? START_MS : undefined;
  return [
    figureRow({
      name: `${name}: median of ${starts}`,
      unit: 'ms',
      value: median(outside),
      bound,
      note: `by its own word ${Math.round(median(inside))} ms`,
    }),
    figureRow({
      name: `${name}: slowest of ${starts}`,
      unit: 'ms',
      value: Math.max(...outside),
      bound,
      ...(note === undefined ? {} : { note }),
    }),
  ];
}

/**
 * Asks the kernel to forget the cached pages of the runtime and the program (posix_fadvise, which `dd` of coreutils
 * reaches; nothing else on the machine loses its cache). Null, or why it cannot be done.
 */
function evictFiles(target: Target): string | null {
  for (const file of filesOf(target)) {
    const { error, status, stderr } = spawnSync('dd', [
      `if=${file}`,
      'iflag=nocache',
      'count=0',
      'status=none',
    ]);
    if (error !== undefined) return `expected dd of coreutils, got ${error.message}`;
    if (status !== 0) return `expected dd to take iflag=nocache, got ${stderr.toString().trim()}`;
  }
  return null;
}

/** Pages that a running process has mapped stay: of the runtime, those of this benchmark's own. */
function cachedNote(target: Target): string {
  const files = filesOf(target);
  const { error, status, stdout } = spawnSync('fincore', [
    '--bytes',
    '--noheadings',
    '--output',
    'RES',
    ...files,
  ]);
  if (error !== undefined || status !== 0) return 'how much stayed in the cache is not known';
  const cached = stdout
    .toString()
    .split('\n')
    .reduce((sum, line) => sum + Number(line), 0);
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  return `${Math.round(cached / MB)} of ${Math.round(bytes / MB)} MB stayed in the cache`;
}
