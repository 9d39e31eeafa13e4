/** What the memory governor is made with. */
import type { Clock } from '../../actors/kernel/index.ts';
import type { ProcessMemory } from './process-memory.ts';

/** What the governor can ask for. */
export interface MemoryHands {
  /** Once, when the start is over: what is resident of files is only what is used from now on. */
  mapSingly(): void;
  /** Gives clean pages of files back. */
  releasePages(): void;
  /** Gives free memory of malloc back. */
  trim(): void;
  /** Collects the garbage of main: it stands for some 30 ms. */
  collect(): void;
  /** What is new on main, alone: so that V8 gives back the pages that it keeps of collections. */
  collectYoung(): void;
  /** Threads collect in the middle of work too, or not. */
  setShort(short: boolean): void;
  /** Has the threads with actors do so too, at once. */
  collectThreads(): void;
  /** Lets V8 optimise what runs often, or not: a compilation takes up to 15 MB while it lasts. */
  setOptimising(on: boolean): void;
}

/** What the governor can make smaller. */
export interface Adjustable {
  /** Cpu threads in use at most. */
  readonly threads: number;
  readonly maxThreads: number;
  /** Cpu threads that there are. */
  readonly running: number;
  setThreads(threads: number): void;
  /** True: work goes out one by one, nothing ahead of its time. */
  setNarrow(narrow: boolean): void;
}

export interface GovernorOptions {
  readonly clock: Clock;
  readonly budgetBytes: number;
  /** Never throws; a resident size of 0 is one that is not known just now. */
  readonly readMemory: () => ProcessMemory;
  /** Resident memory of main's heap. */
  readonly heldBytes: () => number;
  /** Collections that the threads with actors have told of. */
  readonly threadCollections: () => number;
  /** Code of users may run on some thread: it is optimised whatever it costs. */
  readonly runsUserCode: boolean;
  /** Runs that have ended since the start. */
  readonly ended: () => number;
  /** Runs that are being executed. */
  readonly active: () => number;
  readonly hands: MemoryHands;
  readonly cpu: Adjustable;
  readonly warn: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}
