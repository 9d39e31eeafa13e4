/** The door between the ready queue and the pools: what a free slot may take, and who is told that there is work. */
import { type ExecuteOrder, makesRuns, type Pool, type PoolName, type WorkSource } from '../execution.ts';
import { orderOf } from './order.ts';
import type { ReadyQueue } from './ready-queue.ts';
import { NONE } from './ready-tree.ts';
import type { Run } from './run.ts';

export interface PoolDoorOptions {
  readonly ready: ReadyQueue;
  /** True while those wait that make runs and can. */
  readonly isPressed: () => boolean;
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
  /** The run that a pool was last told of, because another one gave way: since the last time that all were woken. */
  readonly #told = new Map<PoolName, Run | null>();

  constructor(options: PoolDoorOptions) {
    this.#options = options;
  }

  attach(pool: Pool): void {
    this.#pools.set(pool.name, pool);
  }

  /** The ready queue as one pool sees it. */
  source(pool: PoolName): WorkSource {
    const { ready, isPressed, isShut: isAllShut } = this.#options;
    // Scans are where the runs of the queues come from: above a high watermark none begins.
    const isShut =
      pool === 'scan' ? () => isAllShut() || isPressed() : () => isAllShut() || this.#yields(pool);
    return {
      peekTask: () => (isShut() ? undefined : ready.peek(pool)?.task.spec.name),
      take: () => (isShut() ? undefined : this.#take(pool)),
    };
  }

  poolOf(run: Run): Pool | undefined {
    return this.#pools.get(run.pool);
  }

  wake(pool: PoolName): void {
    this.#pools.get(pool)?.wake();
  }

  /** There may be room again, for each of them. */
  wakeAll(): void {
    this.#told.clear();
    for (const pool of this.#pools.values()) pool.wake();
  }

  /**
   * Whether another pool has the better run and a free slot: where pools share a bound, one that always has work would take
   * every place that the other waits for. It is told of each run once, whenever there is room again, and goes first; what it
   * then leaves, for it may have reasons that are not known here, does not hold up the others, and is its own the next time.
   */
  #yields(name: PoolName): boolean {
    const { ready } = this.#options;
    if (!ready.poolsShare || makesRuns(name)) return false;
    const rank = ready.rank(name);
    if (rank === NONE) return false;
    let isYielding = false;
    for (const other of this.#pools.values()) {
      if (other.name === name || makesRuns(other.name) || other.active >= other.slots) continue;
      if (ready.rank(other.name) >= rank) continue;
      const run = ready.peek(other.name);
      if (this.#told.get(other.name) === run) continue;
      this.#told.set(other.name, run);
      isYielding = true;
      other.wake();
    }
    if (isYielding) this.#pools.get(name)?.wake();
    return isYielding;
  }

  #take(pool: PoolName): ExecuteOrder | undefined {
    const run = this.#options.ready.take(pool);
    if (run === null) return undefined;
    this.#options.onTaken(run);
    return orderOf(run, this.#options.writesAhead);
  }
}
