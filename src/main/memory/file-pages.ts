/**
 * The pages of this process that came from files and can be given back at any time: the code and constants of the
 * runtime and its libraries. A page that is given back and needed again costs one minor fault on the page cache.
 *
 * Only ranges are touched that can never hold anything else:
 * - from a file, never writable, without one anonymous page (relocated constants are anonymous: giving those
 *   back would lose them)
 * - part of the one stretch in which a program or library was loaded: that stays mapped until the process ends, so it
 *   can not have become someone's heap meanwhile. A copy elsewhere (V8 maps its built-in code once more for threads
 *   with a large heap) goes away with its thread, and is left alone
 * - or what stands in the file behind all of that and is no code: the parts and their code caches in the single executable,
 *   which is loaded at an address of its own
 */
import { readFileSync } from 'node:fs';

export interface PageRange {
  /** Address; a multiple of the page size, as all mappings are. */
  readonly start: bigint;
  readonly bytes: bigint;
}

/** Smaller ranges are not worth the call. */
const LEAST_BYTES = 64n * 1024n;

/** Start and end, permissions, offset, device, inode, name. */
const HEAD = /^([0-9a-f]+)-([0-9a-f]+) (\S{4}) ([0-9a-f]+) \S+ (\d+)\s*(.*)$/;

interface Stretch {
  /** Address. */
  readonly end: bigint;
  /** Place in the file. */
  readonly fileEnd: bigint;
}

/** The ranges in a text of /proc/PID/smaps (proc(5)) that can be given back. */
export function releasableRanges(smaps: string): PageRange[] {
  const found: PageRange[] = [];
  let candidate: PageRange | null = null;
  /** The first one of each file, by its name. */
  const stretches = new Map<string, Stretch>();
  for (const line of smaps.split('\n')) {
    const head = HEAD.exec(line);
    if (head !== null) {
      const [, from, to, permissions, offset, inode, name] = head as unknown as string[];
      const [start, end, fileStart] = [BigInt(`0x${from}`), BigInt(`0x${to}`), BigInt(`0x${offset}`)];
      const range = { start, bytes: end - start };
      const fromFile = inode !== '0' && name!.startsWith('/') && !name!.startsWith('/dev/');
      const isPlain = permissions!.endsWith('p') && !permissions!.includes('w');
      const stretch = stretches.get(name!);
      const isFirst = stretch === undefined || stretch.end === start;
      if (isFirst) stretches.set(name!, { end, fileEnd: fileStart + range.bytes });
      const stays = isFirst || (fileStart >= stretch.fileEnd && !permissions!.includes('x'));
      candidate = fromFile && isPlain && stays && range.bytes >= LEAST_BYTES ? range : null;
    } else if (candidate !== null && line.startsWith('Anonymous:')) {
      if (/^Anonymous:\s+0 kB/.test(line)) found.push(candidate);
      candidate = null;
    }
  }
  return found;
}

/** Of this process. Empty where there is no /proc. */
export function findReleasableRanges(): PageRange[] {
  try {
    return releasableRanges(readFileSync('/proc/self/smaps', 'latin1'));
  } catch {
    return [];
  }
}
