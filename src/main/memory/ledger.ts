/**
 * The memory ledger: who may hold how much, beside who holds it. Pure: from a config, and from what a daemon measured
 * of itself if there is one.
 *
 * Rows are parts of the process or of other rows (`within`). Measured, the rows of the process add up to its resident
 * memory. Bounds do not add up to the budget and are not meant to: a bound is what may be held at worst, and what keeps
 * the whole within the budget is the governor.
 */
import { liveFlowsLimit } from '../../actors/flow/index.ts';
import { budgetShare, DEFAULT_CREDIT, HEAP_BYTES } from '../../actors/kernel/index.ts';
import { IO_MAILBOX_BYTES, LOG_BUFFERS, MAILBOXES } from '../../actors/mailboxes.ts';
import { ActorName, ThreadName } from '../../actors/protocol.ts';
import { KEY_BYTES, MAX_KEYS, RUN_BYTES, type RunsBytes, runsByteLimits } from '../../actors/runs/index.ts';
import { JOURNAL_CACHE_BYTES } from '../../actors/store/index.ts';
import type { MemoryStep } from '../../actors/views/runtime-view.ts';
import type { LedgerRow, SizeView } from '../../actors/views/size-view.ts';
import { CHUNK_BYTES, CPU_HEAP_LIMITS, codecBytes } from '../../workers/index.ts';
import type { Config } from '../config/index.ts';
import { PLACEMENT } from '../placement.ts';
import type { ProcessMemory } from './process-memory.ts';

/** Of the run by which a capacity is turned into bytes: 150 characters of JSON, and an id of 45. */
export const TYPICAL_INPUT_BYTES = 150;
const TYPICAL_ID_BYTES = 45;
const TEXT_HEADS_BYTES = 32;

/** Node's `stackSizeMb`, of each thread it starts; of main, the usual `ulimit -s`. */
const STACK_BYTES = 4 * 2 ** 20;
const MAIN_STACK_BYTES = 8 * 2 ** 20;

/** What a daemon measured of itself. Bytes; null: not known. */
export interface Measured {
  readonly memory: ProcessMemory;
  readonly mainHeap: number;
  /** By name of the thread: what its heap uses, and what is on its way to it. */
  readonly links: ReadonlyMap<string, { readonly heap: number; readonly out: number }>;
  /** Of each cpu thread that there is. */
  readonly cpuHeaps: readonly (number | null)[];
  readonly runs: RunsBytes;
  /** By actor. */
  readonly mailboxes: ReadonlyMap<string, number>;
  readonly store: { readonly history: number; readonly live: number; readonly marks: number } | null;
  /** Of live flows; null: there are none in the config. */
  readonly flows: number | null;
  readonly logBytes: number | null;
  readonly flow: NonNullable<SizeView['flow']>;
  readonly io: { readonly slots: number; readonly waitMs: number; readonly computeMs: number };
  /** Null where nothing governs. */
  readonly steps: Readonly<Record<MemoryStep, number>> | null;
}

/** `measured` null: computed columns only. */
export function ledger(config: Config, cores: number, measured: Measured | null): SizeView {
  const { budgetBytes } = config.memory;
  const limits = runsByteLimits(budgetBytes);
  const rows = ledgerRows(config, measured);
  const { sizing, slots, waitMs, computeMs } = config.pools.io;
  return {
    budgetBytes,
    rssBytes: measured?.memory.rss ?? null,
    rows,
    boundsBytes: sumOfBounds(rows),
    unbounded: rows.filter((row) => isUnbounded(row, rows)).map((row) => row.name),
    steps: measured?.steps ?? null,
    ready: {
      capacity: config.queues.ready.capacity,
      rates: config.queues.ready.rates,
      runBytes: RUN_BYTES + TYPICAL_INPUT_BYTES + TYPICAL_ID_BYTES + TEXT_HEADS_BYTES,
      maxBytes: limits.ready,
    },
    io: { sizing, slots, waitMs, computeMs, ...measured?.io, cores },
    flow: measured?.flow ?? null,
  };
}

/** What the store may hold of runs that are over: it is memory, so the budget counts too. */
export function historyBytes({ memory, retention, store }: Config): number {
  const share = budgetShare(memory.budgetBytes, 10);
  return store.kind === 'memory' ? Math.min(retention.maxBytes, share) : retention.maxBytes;
}

function ledgerRows(config: Config, measured: Measured | null): LedgerRow[] {
  const rows: LedgerRow[] = [];
  const { budgetBytes } = config.memory;
  const limits = runsByteLimits(budgetBytes);
  const whole = budgetBytes > HEAP_BYTES ? '1 GB' : 'the budget';
  const { queues } = config;
  const isInMemory = config.store.kind === 'memory';
  const runs = measured?.runs ?? null;
  const threads = [ThreadName.Service, ...(usesGuest(config) ? [ThreadName.Guest] : [])];
  const add = (name: string, within: string | null, row: Omit<LedgerRow, 'name' | 'within'>) => {
    rows.push({ name, within, ...row });
    return name;
  };

  const main = add('main heap', null, {
    boundBytes: null,
    measuredBytes: measured?.mainHeap ?? null,
    how: 'scheduler, tasks, code, and the rows below',
  });
  const liveBytes = limits.retry + limits.delayed;
  const live = add('live runs', main, {
    boundBytes: liveBytes,
    measuredBytes: runs === null ? null : runs.ready + runs.delayed + runs.retry + runs.running,
    how: `${RUN_BYTES} bytes a run beside its id, input and errors; a quarter of ${whole}`,
  });
  add('ready queue', live, {
    boundBytes: limits.ready,
    measuredBytes: runs?.ready ?? null,
    how: `${queues.ready.capacity} runs; a fifth of ${whole}, with runs on slots and in retry`,
  });
  add('retry queue', live, {
    boundBytes: limits.retry - limits.ready,
    measuredBytes: runs?.retry ?? null,
    how: `${queues.retry.capacity} runs; a fortieth of ${whole} beyond the ready queue's share`,
  });
  add('runs on slots', live, {
    boundBytes: null,
    measuredBytes: runs?.running ?? null,
    how: "counted in the ready queue's share",
  });
  add('delayed queue', live, {
    boundBytes: limits.delayed,
    measuredBytes: runs?.delayed ?? null,
    how: `${queues.delayed.capacity} runs; a fortieth of ${whole}`,
  });
  if (config.tasks.some(({ bounds }) => bounds !== null && bounds.key !== null)) {
    add('keys', main, {
      boundBytes: MAX_KEYS * KEY_BYTES,
      measuredBytes: runs?.keys ?? null,
      how: `${MAX_KEYS} keys of ${KEY_BYTES} bytes, of runs that wait or are on slots`,
    });
  }
  if (config.flows.length > 0) {
    add('live flows', main, {
      boundBytes: liveFlowsLimit(config.memory.budgetBytes),
      measuredBytes: measured?.flows ?? null,
      how: `beside the runs of their steps; a twentieth of ${whole}, above which no further one begins`,
    });
  }
  add('dead letters', main, {
    boundBytes: limits.deadLetters,
    measuredBytes: runs?.deadLetters ?? null,
    how: `${queues.deadLetter.capacity} letters; a twentieth of ${whole}`,
  });
  add('journal', main, {
    boundBytes: limits.journal,
    measuredBytes: runs?.journal ?? null,
    how: `transitions that the store has not acknowledged; a tenth of ${whole}`,
  });
  addMailboxes(ThreadName.Main, main);
  for (const thread of threads) {
    add(`link to ${thread}`, main, {
      boundBytes: 2 * DEFAULT_CREDIT.bytes,
      measuredBytes: measured?.links.get(thread)?.out ?? null,
      how: 'credit, and an outbox as large',
    });
  }

  for (const thread of threads) {
    const heap = add(`${thread} heap`, null, {
      boundBytes: null,
      measuredBytes: measured?.links.get(thread)?.heap ?? null,
      how:
        thread === ThreadName.Guest
          ? 'your modules of kind io'
          : 'telemetry, control, io, and the rows below',
    });
    if (thread === ThreadName.Service && isInMemory) addStore(heap);
    addMailboxes(thread, heap);
    add(`link from ${thread}`, heap, {
      boundBytes: 2 * DEFAULT_CREDIT.bytes,
      measuredBytes: null,
      how: 'credit, and an outbox as large',
    });
  }
  addCpuThreads();
  addNative();
  add('pages of files', null, {
    boundBytes: null,
    measuredBytes: measured?.memory.file ?? null,
    how: 'program and libraries: shared, clean, given back when they pass 4 MB',
  });
  return rows;

  function addMailboxes(thread: ThreadName, within: string): void {
    for (const actor of Object.values(ActorName)) {
      if (PLACEMENT[actor] !== thread) continue;
      const boundBytes = isWorkerActor(actor) ? IO_MAILBOX_BYTES : MAILBOXES[actor].capacityBytes;
      add(`mailbox of ${actor}`, within, {
        boundBytes,
        measuredBytes: measured?.mailboxes.get(actor) ?? null,
        how: 'its bound in bytes',
      });
    }
  }

  /** A store in memory. A journal is on disk; what SQLite holds of it is native memory. */
  function addStore(within: string): void {
    const store = measured?.store ?? null;
    add('store: live runs', within, {
      boundBytes: liveBytes,
      measuredBytes: store?.live ?? null,
      how: 'as those of main, but only what has begun: on slots and in retry',
    });
    add('store: history', within, {
      boundBytes: historyBytes(config),
      measuredBytes: store?.history ?? null,
      how: `the smaller of retention.max_mb and a tenth of ${whole}`,
    });
    add('store: marks of files', within, {
      boundBytes: null,
      measuredBytes: store?.marks ?? null,
      how: '16 to 32 bytes a file dealt with: a forgotten mark would do the file again',
    });
  }

  function addCpuThreads(): void {
    const { maxOldGenerationSizeMb: old, maxYoungGenerationSizeMb: young } = CPU_HEAP_LIMITS;
    const heaps = measured?.cpuHeaps ?? null;
    for (let index = 0; index < Math.max(config.pools.cpu.threads, heaps?.length ?? 0); index++) {
      add(`cpu thread ${index + 1} heap`, null, {
        boundBytes: (old + young) * 2 ** 20,
        measuredBytes: heaps === null ? null : index < heaps.length ? heaps[index]! : 0,
        how: 'limit of its heap: your modules of kind cpu may use it',
      });
    }
  }

  function addNative(): void {
    const { threads: cpuThreads } = config.pools.cpu;
    const native = add('native memory', null, {
      boundBytes: null,
      measuredBytes: measured === null ? null : nativeBytes(measured),
      how: 'anonymous memory less the heaps: malloc, code, free pages of heaps, and the rows below',
    });
    add('stacks', native, {
      boundBytes: MAIN_STACK_BYTES + (threads.length + cpuThreads) * STACK_BYTES,
      measuredBytes: null,
      how: '8 MB of main, 4 MB of each other thread; little of it is ever touched',
    });
    add('log buffers', native, {
      boundBytes: (LOG_BUFFERS.chunks + LOG_BUFFERS.spare) * LOG_BUFFERS.chunkBytes,
      measuredBytes: measured?.logBytes ?? null,
      how: `${LOG_BUFFERS.chunks + LOG_BUFFERS.spare} buffers of ${LOG_BUFFERS.chunkBytes / 1024} KiB`,
    });
    if (!isInMemory) {
      add('pages of the journal', native, {
        boundBytes: JOURNAL_CACHE_BYTES,
        measuredBytes: null,
        how: 'cache of SQLite; what is over is kept on disk: retention.max_mb',
      });
    }
    add('file buffers', native, {
      boundBytes: cpuThreads * 2 * CHUNK_BYTES,
      measuredBytes: null,
      how: `2 × ${CHUNK_BYTES / 1024} KiB for each of ${cpuThreads} cpu threads`,
    });
    const codec = Math.max(0, ...config.tasks.map((task) => codecBytes(task.handler, task.with)));
    add('codecs', native, {
      boundBytes: cpuThreads * codec,
      measuredBytes: null,
      how: `the largest of compress and decompress in the config, on each of ${cpuThreads} cpu threads`,
    });
  }
}

function usesGuest(config: Config): boolean {
  return config.tasks.some((task) => task.pool === 'guest');
}

function isWorkerActor(actor: ActorName): actor is 'io' | 'guest' {
  return actor === ActorName.Io || actor === ActorName.Guest;
}

/** Heaps that did not say what they use are counted here. */
function nativeBytes({ memory, mainHeap, links, cpuHeaps }: Measured): number {
  let heaps = mainHeap;
  for (const { heap } of links.values()) heaps += heap;
  for (const heap of cpuHeaps) heaps += heap ?? 0;
  return Math.max(0, memory.anon - heaps);
}

function sumOfBounds(rows: readonly LedgerRow[]): number {
  const inBounded = (row: LedgerRow): boolean => {
    const parent = rows.find(({ name }) => name === row.within);
    return parent !== undefined && (parent.boundBytes !== null || inBounded(parent));
  };
  return rows.reduce((sum, row) => sum + (inBounded(row) ? 0 : (row.boundBytes ?? 0)), 0);
}

/** Neither it nor the row it is a part of has a bound. */
function isUnbounded(row: LedgerRow, rows: readonly LedgerRow[]): boolean {
  const parent = rows.find(({ name }) => name === row.within);
  return row.boundBytes === null && (parent === undefined || parent.boundBytes === null);
}
