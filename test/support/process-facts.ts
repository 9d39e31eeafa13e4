/** What the kernel says of the process that a test runs in. Zeros where it does not say. */
import { readdirSync, readFileSync } from 'node:fs';

/** Threads of this process, those of the runtime itself included. */
export function threadsOfProcess(): number {
  return entries('/proc/self/task').length;
}

/**
 * How long this machine kept threads of this process from running although they could, ms, since it was made:
 * the margin of a test whose bound holds for a machine with idle cores. Nothing of it is due to the process
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
