/**
 * What the kernel says of the process that a test runs in and of its machine. A bound of the contract holds for a
 * machine with idle cores; what others took of this one is its margin in a test, and there is no other.
 */
import { readdirSync, readFileSync } from 'node:fs';

/** Threads of this process, those of the runtime itself included. */
export function threadsOfProcess(): number {
  return entries('/proc/self/task').length;
}

/**
 * How long threads of this process could have run and had no core, ms, since it was made. Nothing of it is due to
 * waiting for a timer, a lock or a message. Threads that ended meanwhile are left out.
 */
export class MachineLag {
  readonly #before = runDelays();

  takenMs(): number {
    let takenNs = 0;
    for (const [thread, delayNs] of runDelays()) takenNs += delayNs - (this.#before.get(thread) ?? 0);
    return takenNs / 1e6;
  }
}

/**
 * The same for work that other processes have a part in: how long some thread of the machine had no core or waited for
 * a disk, ms, since it was made (proc(5), pressure stall information).
 */
export class MachinePressure {
  readonly #resources: readonly Resource[];
  readonly #before: number | null;

  constructor(resources: readonly Resource[] = ['cpu', 'io']) {
    this.#resources = resources;
    this.#before = pressureUs(resources);
  }

  takenMs(): number {
    if (this.#before === null) return UNKNOWN_PRESSURE_MS;
    return ((pressureUs(this.#resources) ?? 0) - this.#before) / 1000;
  }
}

/** Margin where the kernel keeps no account. */
const UNKNOWN_PRESSURE_MS = 1000;

type Resource = 'cpu' | 'io';

function pressureUs(resources: readonly Resource[]): number | null {
  try {
    return resources
      .map((resource) => readFileSync(`/proc/pressure/${resource}`, 'latin1'))
      .map((text) => Number(/^some .*total=(\d+)/.exec(text)?.[1] ?? Number.NaN))
      .reduce((sum, us) => sum + us, 0);
  } catch {
    return null;
  }
}

/** Thread → time on a run queue, ns: the second number of schedstat. */
function runDelays(): Map<string, number> {
  const delays = new Map<string, number>();
  for (const thread of entries('/proc/self/task')) {
    try {
      const [, delayNs] = readFileSync(`/proc/self/task/${thread}/schedstat`, 'latin1').split(' ');
      delays.set(thread, Number(delayNs));
    } catch {
      // The thread ended meanwhile, or the kernel keeps no account.
    }
  }
  return delays;
}

function entries(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
