/**
 * Runs that are to begin later, by wall time. The nearest stand in memory, each with a timer; the others, where the store
 * keeps what it is told, stand in the store alone, so that a million of them cost no more memory than a thousand.
 *
 *   add ─▶ near ─ due ─▶ onDue
 *           │  ▲
 *  too many ▼  │ few are left
 *          far, in the store
 *
 * Invariant: of the runs that the store keeps, all that are due before `#farFrom` are near.
 */
import { type DelayEngine, HeapDelayEngine, type TimerHandle, type WallWatch } from '../delay/index.ts';
import type { Clock, ClockTimer } from '../kernel/clock.ts';
import type { DelayedPlace, StoreMessages } from '../protocol.ts';
import type { StoredRun } from '../records.ts';
import type { Run } from './run.ts';

/** The runs that stand in the store alone: asked for in pages, in the order they are due, or one by its id. */
export interface FarRuns {
  page(after: DelayedPlace): Promise<StoreMessages['delayed']['reply']>;
  find(run: string): Promise<StoredRun | null>;
}

export interface LaterRunsOptions {
  readonly clock: Clock;
  /** Null: nobody else tells of steps of the wall clock. */
  readonly watch: WallWatch | null;
  /** Null: the store keeps nothing that could be asked for. */
  readonly far: FarRuns | null;
  /** Bytes of near runs above which some become far. */
  readonly maxNearBytes: number;
  /** Calls back when the store has the run. */
  readonly whenKept: (run: Run, resolve: () => void) => void;
  /** It has left memory. */
  readonly onLeft: (run: Run) => void;
  /** It is there again. False: it was there already, and nothing has changed. */
  readonly onBack: (stored: StoredRun) => boolean;
  readonly onDue: (run: Run) => void;
  /** Whether more runs can be taken in now. */
  readonly hasRoom: () => boolean;
}

/** Near runs that are kept above which some become far, how many stay then, and how few are left when more are asked for. */
export const NEAR = { most: 2000, stay: 1000, few: 250 } as const;
/** After a question that the store could not answer. */
const ASK_AGAIN_MS = 1000;

export class LaterRuns {
  readonly #options: LaterRunsOptions;
  readonly #engine: DelayEngine<Run>;
  readonly #near = new Map<Run, TimerHandle>();
  /** Of the near ones, those that the store has. */
  readonly #kept = new Set<Run>();
  #keptBytes = 0;
  #far = 0;
  /** Null: none is far. */
  #farFrom: DelayedPlace | null = null;
  /** Those whose end somebody waits for do not leave, when some have to. */
  #stuck = 0;
  #asking = false;
  #again: ClockTimer | null = null;
  #closed = false;

  constructor(options: LaterRunsOptions) {
    this.#options = options;
    const { clock, watch } = options;
    this.#engine = new HeapDelayEngine<Run>({
      clock,
      now: () => clock.wallMs(),
      ...(watch === null ? {} : { watch }),
      onDue: (run) => {
        this.#forget(run);
        options.onDue(run);
        this.lookAhead();
      },
    });
  }

  /** All of them. */
  get depth(): number {
    return this.#near.size + this.#far;
  }

  /** Those in the store alone. */
  get far(): number {
    return this.#far;
  }

  /** What a daemon before left in the store. */
  found(far: number): void {
    if (far === 0) return;
    this.#far = far;
    this.#farFrom = { dueAtMs: 0, position: 0 };
    this.lookAhead();
  }

  /** A new one: once it is kept it may leave memory. */
  add(run: Run): void {
    this.#near.set(run, this.#engine.schedule(run.dueAtMs, run));
    if (this.#options.far === null) return;
    this.#options.whenKept(run, () => {
      if (!this.#near.has(run)) return;
      this.#keep(run);
      if (this.#farFrom !== null && run.dueAtMs >= this.#farFrom.dueAtMs) this.#makeFar(run);
      else if (this.#isMuch) this.#makeSomeFar();
      this.lookAhead();
    });
  }

  /** One that the store has given back. */
  addBack(run: Run): void {
    this.#near.set(run, this.#engine.schedule(run.dueAtMs, run));
    this.#keep(run);
  }

  has(run: Run): boolean {
    return this.#near.has(run);
  }

  /** Of one that is near. */
  remove(run: Run): void {
    const handle = this.#near.get(run);
    if (handle === undefined) return;
    this.#engine.cancel(handle);
    this.#forget(run);
    this.lookAhead();
  }

  /** Brings a run back that stands in the store alone; without effect where there is none of this id. */
  async recall(id: string): Promise<void> {
    const { far } = this.#options;
    if (far === null || this.#far === 0) return;
    const stored = await far.find(id);
    if (stored !== null && !this.#closed) this.#takeBack([stored]);
  }

  /** Asks for the next ones where few are left. */
  lookAhead(): void {
    if (this.#far === 0 || this.#asking || this.#closed) return;
    if (this.#near.size > NEAR.few || !this.#options.hasRoom()) return;
    this.#asking = true;
    void this.#ask();
  }

  close(): void {
    this.#closed = true;
    this.#again?.cancel();
    this.#engine.close();
  }

  async #ask(): Promise<void> {
    const { far, clock } = this.#options;
    const after = this.#farFrom;
    if (far === null || after === null) return;
    try {
      const { runs, next } = await far.page(after);
      if (this.#closed) return;
      // Others may have become far meanwhile, and before this place: they are asked for again from there.
      if (this.#farFrom === after) this.#farFrom = next;
      this.#takeBack(runs);
      if (this.#farFrom === null) this.#far = 0;
      this.#asking = false;
      this.lookAhead();
    } catch {
      // The store says itself what is wrong with it.
      this.#again = clock.setTimer(ASK_AGAIN_MS, () => {
        this.#asking = false;
        this.lookAhead();
      });
      this.#again.unref();
    }
  }

  #takeBack(runs: readonly StoredRun[]): void {
    for (const stored of runs) if (this.#options.onBack(stored)) this.#far--;
    if (this.#far === 0) this.#farFrom = null;
  }

  get #isMuch(): boolean {
    return this.#kept.size > NEAR.most + this.#stuck || this.#keptBytes > this.#options.maxNearBytes;
  }

  /** The latest leave memory, those of one instant together. */
  #makeSomeFar(): void {
    const share = Math.min(1, this.#options.maxNearBytes / 2 / this.#keptBytes);
    const dues = Float64Array.from(this.#kept, (run) => run.dueAtMs).sort();
    const fromMs = dues[Math.floor(Math.min(NEAR.stay, dues.length - 1) * share)]!;
    this.#stuck = 0;
    for (const run of [...this.#kept]) if (run.dueAtMs >= fromMs) this.#makeFar(run);
  }

  #makeFar(run: Run): void {
    if (run.waiters !== null || run.admission !== null) {
      this.#stuck++;
      return;
    }
    const { dueAtMs } = run;
    this.#engine.cancel(this.#near.get(run)!);
    this.#forget(run);
    this.#far++;
    if (this.#farFrom === null || dueAtMs <= this.#farFrom.dueAtMs) this.#farFrom = { dueAtMs, position: 0 };
    this.#options.onLeft(run);
  }

  #keep(run: Run): void {
    this.#kept.add(run);
    this.#keptBytes += run.bytes;
  }

  #forget(run: Run): void {
    this.#near.delete(run);
    if (this.#kept.delete(run)) this.#keptBytes -= run.bytes;
  }
}
