/** The memory governor with its hands: this process's pages and collectors, the threads behind the links, the cpu pool. */
import { type GarbageCollector, type MemoryShort, systemClock } from '../actors/kernel/index.ts';
import type { LogRecord } from '../actors/protocol.ts';
import type { Runs } from '../actors/runs/index.ts';
import type { CpuPool, Pool } from '../workers/index.ts';
import type { Config } from './config/index.ts';
import {
  findReleasableRanges,
  MemoryGovernor,
  type PageRange,
  readProcessMemory,
  setOptimising,
} from './memory/index.ts';
import type { NativeMemoryResult } from './memory/native-memory.ts';
import type { Router } from './router.ts';

export interface GovernorParts {
  readonly config: Config;
  readonly native: NativeMemoryResult;
  readonly collector: GarbageCollector;
  readonly short: MemoryShort;
  readonly router: Router;
  readonly runs: Runs;
  readonly pools: readonly Pool[];
  readonly cpu: CpuPool;
  readonly log: (level: LogRecord['level'], msg: string, fields: LogRecord['fields']) => void;
}

export function createGovernor(parts: GovernorParts): MemoryGovernor {
  const { config, collector, short, router, runs, pools, cpu, log } = parts;
  const native = 'native' in parts.native ? parts.native.native : null;
  let ranges: readonly PageRange[] = [];
  if ('missing' in parts.native)
    log('warn', 'memory is not given back to the system', { reason: parts.native.missing });
  return new MemoryGovernor({
    clock: systemClock,
    budgetBytes: config.memory.budgetBytes,
    readMemory: readProcessMemory,
    heldBytes: () => collector.heldBytes(),
    threadCollections: () => [...router.links].reduce((sum, link) => sum + link.collections, 0),
    runsUserCode: config.modules.length > 0,
    ended: () => runs.ended,
    active: () => pools.reduce((sum, pool) => sum + pool.active, 0),
    hands: {
      mapSingly() {
        if (native === null) return;
        ranges = findReleasableRanges();
        native.mapSingly(ranges);
      },
      releasePages: () => {
        for (const range of ranges) native?.release(range);
      },
      trim: () => native?.trim(),
      setOptimising,
      collect: () => collector.collect(),
      collectYoung: () => collector.collectYoung(),
      setShort(isShort) {
        short.isShort = isShort;
      },
      collectThreads() {
        for (const link of router.links) link.collect();
      },
    },
    cpu: {
      get threads() {
        return cpu.slots;
      },
      maxThreads: config.pools.cpu.threads,
      get running() {
        return cpu.threadCount;
      },
      setThreads: (threads) => cpu.resize(threads),
      setNarrow: (narrow) => cpu.setNarrow(narrow),
    },
    warn: (message, fields) => log('warn', message, fields),
  });
}
