/** The memory of the running daemon, looked at when somebody asks: main's own, and what other threads say of theirs. */
import { availableParallelism } from 'node:os';
import type { Flows } from '../actors/flow/index.ts';
import { type ActorSystem, usedHeapBytes } from '../actors/kernel/index.ts';
import { ActorName, type StoreMessages, type TelemetryMessages } from '../actors/protocol.ts';
import type { Runs } from '../actors/runs/index.ts';
import type { SizeView } from '../actors/views/size-view.ts';
import type { CpuPool, IoPool } from '../workers/index.ts';
import type { Config } from './config/index.ts';
import { ledger, type MemoryGovernor, readProcessMemory } from './memory/index.ts';
import type { Router } from './router.ts';

export interface SizeReportOptions {
  readonly config: Config;
  readonly system: ActorSystem;
  readonly router: Router;
  readonly runs: Runs;
  readonly cpu: CpuPool;
  readonly io: IoPool;
  readonly governor: MemoryGovernor | null;
  readonly flows: Flows | null;
}

/** An actor, or a cpu thread, that does not answer within this is left out. */
const ANSWER_MS = 1000;
const CPU_ANSWER_MS = 200;

export class SizeReport {
  readonly #options: SizeReportOptions;

  constructor(options: SizeReportOptions) {
    this.#options = options;
  }

  /** Never rejects: what does not answer is null. */
  async view(): Promise<SizeView> {
    const { config, system, router, runs, cpu, io, governor, flows } = this.#options;
    const within = { timeoutMs: ANSWER_MS };
    const [store, telemetry, cpuHeaps] = await Promise.all([
      system
        .ref<StoreMessages>(ActorName.Store)
        .ask('usage', null, within)
        .catch(() => null),
      system
        .ref<TelemetryMessages>(ActorName.Telemetry)
        .ask('usage', null, within)
        .catch(() => null),
      cpu.heapBytes(CPU_ANSWER_MS),
    ]);
    const links = [...router.links].map(({ name, stats }) => {
      return [name, { heap: stats.heapBytes, out: stats.heldBytes }] as const;
    });
    const mailboxes = [...system.mailboxes(), ...(telemetry?.mailboxes ?? [])];
    const { waitMs, computeMs } = { ...config.pools.io, ...io.measured };
    return ledger(config, availableParallelism(), {
      memory: readProcessMemory(),
      mainHeap: usedHeapBytes(),
      links: new Map(links),
      cpuHeaps,
      runs: runs.figures.heldBytes(),
      mailboxes: new Map(mailboxes.map(({ actor, bytes }) => [actor, bytes])),
      store,
      flows: flows?.heldBytes ?? null,
      logBytes: telemetry?.logBytes ?? null,
      flow: runs.figures.flow.read(),
      io: { slots: io.slots, waitMs, computeMs },
      steps: governor?.steps ?? null,
    });
  }
}
