/**
 * Collecting the garbage of the thread that calls: for moments in which nobody waits for it, 10 to 50 ms long.
 *
 * It is the runtime's last-resort collection: it compacts, shrinks the young generation and gives pages back. Code
 * that was not run during the last few collections is dropped with it and compiled again when it is needed.
 *
 * The runtime hands its function out only to contexts that are made while `--expose-gc` is set. The flag is set for
 * that moment only: a flag that is not at its default makes V8 refuse the compiled code that the runtime carries for
 * its own modules, which costs a thread 20 ms at its start and up to 0.7 MB for as long as it lives. No flag that
 * a collection itself looks at may be changed so: other threads may be in the middle of one.
 */

interface Collection {
  readonly type: 'major' | 'minor';
  readonly execution: 'sync';
  readonly flavor?: 'last-resort';
}

type Collect = (collection: Collection) => void;

/** Another thread may take the flag back in between. */
const ATTEMPTS = 10;

/** One a thread. */
export class GarbageCollector {
  #collect: Collect | null | undefined;

  /** Blocks this thread for the time of the collection. */
  collect(): void {
    this.#run({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  }

  /** Garbage that is new, alone: less than a millisecond. */
  collectYoung(): void {
    this.#run({ type: 'minor', execution: 'sync' });
  }

  /**
   * Resident memory of the heap of this thread: what is used, what is garbage, and pages that were used once. After
   * work it is 2 MB more than before, however little is used: that is what a collection gives back.
   */
  heldBytes(): number {
    return process.getBuiltinModule('node:v8').getHeapStatistics().total_physical_size;
  }

  #run(collection: Collection): void {
    this.#collect ??= obtain();
    this.#collect?.(collection);
  }
}

/** What the heap of this thread uses. Unlike `process.memoryUsage`, it asks V8 alone and reads nothing of /proc. */
export function usedHeapBytes(): number {
  return process.getBuiltinModule('node:v8').getHeapStatistics().used_heap_size;
}

/** Null where other threads took the flag back every time: the next call tries again. */
function obtain(): Collect | null {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  const { runInNewContext } = process.getBuiltinModule('node:vm');
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    setFlagsFromString('--expose-gc');
    const found: unknown = runInNewContext('globalThis.gc');
    setFlagsFromString('--no-expose-gc');
    if (typeof found === 'function') return found as Collect;
  }
  return null;
}
