/**
 * What the kernel says of another process, read from outside every 100 ms: memory and threads of
 * /proc/PID/status, processor time of /proc/PID/stat (proc(5)). Both count the process with all of its threads.
 */
import { readFileSync } from 'node:fs';
import { median } from './bench-row.ts';

/** USER_HZ, in which the kernel tells processor time: 100 on x64 and arm64. */
const TICKS_PER_SECOND = 100;
const INTERVAL_MS = 100;

export interface ProcessStatus {
  /** Resident bytes, as `ps` shows them. */
  readonly rss: number;
  /** Of those: heap, malloc and stacks. */
  readonly anon: number;
  /** Of those: pages of files, shared and reclaimable. */
  readonly file: number;
  readonly threads: number;
}

export interface ProcessSample extends ProcessStatus {
  readonly atMono: number;
  /** User and system time since the process began, those of threads that have ended included. */
  readonly cpuSeconds: number;
}

export interface MaxAndMedian {
  readonly max: number;
  readonly median: number;
}

export interface ProcessSummary {
  readonly samples: number;
  /** From the first sample to the last. */
  readonly seconds: number;
  readonly rss: MaxAndMedian;
  readonly anon: MaxAndMedian;
  readonly file: MaxAndMedian;
  readonly threadsMax: number;
  /** Of one core: 2 where two cores were busy all the time. */
  readonly cpuShare: number;
}

/** Null where the process has no memory: it has ended and is not yet collected by its parent. */
export function parseStatus(text: string): ProcessStatus | null {
  const field = (name: string): number | null => {
    const match = new RegExp(`^${name}:\\s+(\\d+)(?: kB)?$`, 'm').exec(text);
    return match === null ? null : Number(match[1]);
  };
  const [rss, anon, file, threads] = [field('VmRSS'), field('RssAnon'), field('RssFile'), field('Threads')];
  if (rss === null || anon === null || file === null || threads === null) return null;
  return { rss: rss * 1024, anon: anon * 1024, file: file * 1024, threads };
}

/**
 * User and system time in seconds. The second field is the name of the program in parentheses and may itself hold
 * parentheses, blanks and line ends; no later field does.
 */
export function parseCpuSeconds(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  if (!Number.isFinite(ticks)) throw new Error(`expected the text of /proc/PID/stat, got ${stat}`);
  return ticks / TICKS_PER_SECOND;
}

/** Null where there is no such process. */
export function sampleProcess(pid: number): ProcessSample | null {
  try {
    const status = parseStatus(readFileSync(`/proc/${pid}/status`, 'utf8'));
    const cpuSeconds = parseCpuSeconds(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    return status === null ? null : { ...status, cpuSeconds, atMono: performance.now() };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return null;
    throw error;
  }
}

/** Throws where there are fewer than two samples: no time has passed between them. */
export function summarise(samples: readonly ProcessSample[]): ProcessSummary {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || samples.length < 2) {
    throw new Error(`expected two samples of a process or more, got ${samples.length}`);
  }
  const seconds = (last.atMono - first.atMono) / 1000;
  const both = (key: 'rss' | 'anon' | 'file'): MaxAndMedian => {
    const values = samples.map((sample) => sample[key]);
    return { max: Math.max(...values), median: median(values) };
  };
  return {
    samples: samples.length,
    seconds,
    rss: both('rss'),
    anon: both('anon'),
    file: both('file'),
    threadsMax: Math.max(...samples.map(({ threads }) => threads)),
    cpuShare: (last.cpuSeconds - first.cpuSeconds) / seconds,
  };
}

/** Samples from the moment it is made until `stop`, or until the process has ended. */
export class ProcessSampler {
  readonly #pid: number;
  readonly #samples: ProcessSample[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(pid: number) {
    this.#pid = pid;
    this.#timer = setInterval(() => this.#take(), INTERVAL_MS);
    this.#take();
  }

  /** What was taken since then; by default, all. */
  since(mono = 0): readonly ProcessSample[] {
    return this.#samples.filter(({ atMono }) => atMono >= mono);
  }

  /** Idempotent. */
  stop(): void {
    clearInterval(this.#timer);
  }

  #take(): void {
    const sample = sampleProcess(this.#pid);
    if (sample === null) this.stop();
    else this.#samples.push(sample);
  }
}
