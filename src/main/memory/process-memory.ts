/** What the kernel says of this process's memory. /proc is no disk: reading it takes microseconds. */
import { readFileSync } from 'node:fs';

export interface ProcessMemory {
  /** Resident bytes, as `ps` shows them. */
  readonly rss: number;
  /** Of those: heap, malloc and stacks. */
  readonly anon: number;
  /** Of those: pages of files, shared and reclaimable. */
  readonly file: number;
}

const RSS = /^VmRSS:\s+(\d+)/m;
const ANON = /^RssAnon:\s+(\d+)/m;
const FILE = /^RssFile:\s+(\d+)/m;

/** It cannot be known just now. */
const UNKNOWN: ProcessMemory = { rss: 0, anon: 0, file: 0 };

/**
 * Of VmRSS, RssAnon and RssFile in /proc/self/status (proc(5), in kB); zeros where there is none, or where the process has no
 * descriptor left to read it with. Never throws: who looks at memory now and then must not end the daemon. Parameters for
 * tests.
 */
export function readProcessMemory(
  readStatus = () => readFileSync('/proc/self/status', 'utf8'),
  readRss: () => number = process.memoryUsage.rss,
): ProcessMemory {
  let status: string;
  try {
    status = readStatus();
  } catch {
    try {
      return { ...UNKNOWN, rss: readRss() };
    } catch {
      return UNKNOWN;
    }
  }
  const bytes = (field: RegExp) => 1024 * Number(field.exec(status)?.[1] ?? 0);
  return { rss: bytes(RSS), anon: bytes(ANON), file: bytes(FILE) };
}
