/** How much memory the process holds, who holds it, and what keeps it within its budget. */
export { findReleasableRanges, type PageRange, releasableRanges } from './file-pages.ts';
export { MemoryGovernor } from './governor.ts';
export { historyBytes, ledger, type Measured } from './ledger.ts';
export { loadNativeMemory, type NativeMemory } from './native-memory.ts';
export { setOptimising } from './optimising.ts';
export { type ProcessMemory, readProcessMemory } from './process-memory.ts';
export { threadsThatFit } from './thread-room.ts';
