/** What a program gives to the runtime that is a part of it: a pool of its functions, and an ear for what becomes of runs. */
import type { RecordBatch } from '../actors/records.ts';
import type { InlinePool } from '../workers/inline-pool/inline-pool.ts';
import type { InlinePoolOptions } from '../workers/inline-pool/inline-pool-options.ts';

export interface Embedded {
  /** Given here and not made by the daemon, which has no use for it where it is the whole process. */
  readonly createPool: (parts: Omit<InlinePoolOptions, 'functions' | 'watch'>) => InlinePool;
  /** Transitions that were sent to the store: in order, some of them again where the store had lost them. */
  readonly onRecorded: (batch: RecordBatch) => void;
}
