/** The face of the workers for the main thread: pools, the words of an order, and where threads start from. */

export {
  AbortReason,
  type ExecuteOrder,
  type Outcome,
  type Pool,
  PoolName,
  type WorkSource,
} from '../actors/execution.ts';
export { blockedBy, blockedFields } from './blocked-thread.ts';
export { CpuPool, type CpuPoolOptions, DEFAULT_LIMITS as CPU_HEAP_LIMITS } from './cpu-pool/cpu-pool.ts';
export { CHUNK_BYTES } from './files/chunk-buffers.ts';
export { codecBytes } from './files/codec-memory.ts';
export type { BuiltInHandler, Handler, HandlerContext, HandlerLog } from './handler.ts';
export { builtInHandlers } from './handlers/index.ts';
export { InlinePool } from './inline-pool/inline-pool.ts';
export type { InlinePoolOptions } from './inline-pool/inline-pool-options.ts';
export { LoopWatch } from './inline-pool/loop-watch.ts';
export { BegunRun } from './io-pool/begun-run.ts';
export { IoPool, type IoPoolOptions } from './io-pool/io-pool.ts';
export { ioSlots, MEASURED_MAX_SLOTS, MeasuredSizing } from './io-pool/pool-size.ts';
export { endProcessesOf } from './processes/left-processes.ts';
export type { UserModule } from './registry.ts';
export type { HostSettings } from './threads/host-settings.ts';
export { startThread, threadFile } from './threads/thread-files.ts';
