/** The door between the ready queue and the pools: what a free slot may take, and who is told that there is work. */
import type { ExecuteOrder, Pool, PoolName, WorkSource } from '../execution.ts';
import { orderOf } from './order.ts';
import type { ReadyQueue } from './ready-queue.ts';
import type { Run } from './run.ts';

export interface PoolDoorOptions {
  readonly ready: ReadyQueue;
  /** True while no slot may take anything. */
  readonly isShut: () => boolean;
  /** True where a run begins only when the journal has it. */
  readonly writesAhead: boolean;
  /** A slot took this run. */
  readonly onTaken: (run: Run) => void;
}

export class PoolDoor {
  readonly #options: PoolDoorOptions;
  readonly #pools = new Map<PoolName, Pool>();

  constructor(options: PoolDoorOptions) {
    this.#options = options;
  }

  attach(pool: Pool): void {
    this.#pools.set(pool.name, pool);
  }

  /** The ready queue as one pool sees it. */
  source(pool: PoolName): WorkSource {
    const { ready, isShut } = this.#options;
    return {
      peekTask: () => (isShut() ? undefined : ready.peek(pool)?.task.spec.name),
      take: () => (isShut() ? undefined : this.#take(pool)),
    };
  }

  poolOf(run: Run): Pool | undefined {
    return this.#pools.get(run.pool);
  }

  wakeAll(): void {
    for (const pool of this.#pools.values()) pool.wake();
  }

  #take(pool: PoolName): ExecuteOrder | undefined {
    const run = this.#options.ready.take(pool);
    if (run === null) return undefined;
    this.#options.onTaken(run);
    return orderOf(run, this.#options.writesAhead);
  }
}
