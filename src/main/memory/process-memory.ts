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

/** Of VmRSS, RssAnon and RssFile in /proc/self/status (proc(5), in kB); zeros where there is none. */
export function readProcessMemory(): ProcessMemory {
  let status: string;
  try {
    status = readFileSync('/proc/self/status', 'utf8');
  } catch {
    return { rss: process.memoryUsage.rss(), anon: 0, file: 0 };
  }
  const bytes = (field: RegExp) => 1024 * Number(field.exec(status)?.[1] ?? 0);
  return { rss: bytes(RSS), anon: bytes(ANON), file: bytes(FILE) };
}
