/**
 * A cpu pool with a source, a record of every outcome, and gates in shared memory. Ends with the test, and
 * then checks that no order got two outcomes or none and that no thread ran two orders at a time.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { Piscina } from 'piscina';
import type { ExecuteOrder, Outcome } from '../../src/actors/execution.ts';
import { type Clock, systemClock } from '../../src/actors/kernel/clock.ts';
import type { ErrorData } from '../../src/actors/kernel/errors.ts';
import type { LogRecord } from '../../src/actors/protocol.ts';
import { BatchSizer } from '../../src/workers/cpu-pool/batch-size.ts';
import { CpuPool, type CpuPoolOptions } from '../../src/workers/cpu-pool/cpu-pool.ts';
import type { BatchMessage } from '../../src/workers/cpu-pool/cpu-protocol.ts';
import { type HasAfter, tempDir } from '../support/temp-dir.ts';

export interface Submit {
  /** Default `acts`: what is measured is measured by task. */
  readonly task?: string;
  readonly handler?: string;
  readonly timeoutMs?: number;
  readonly value?: unknown;
  readonly ms?: number;
}

export interface HarnessOptions
  extends Partial<Pick<CpuPoolOptions, 'idleMs' | 'graceMs' | 'resourceLimits'>> {
  readonly threads?: number;
  readonly clock?: Clock;
  readonly workerFile?: string;
  /** Orders that may still be held when the test ends. */
  readonly leavesOpen?: boolean;
  /** What is tiny is measured, as it is outside of tests; default: what `makeTiny` names. */
  readonly measured?: boolean;
}

class TestSizer extends BatchSizer {
  readonly tiny = new Set<string>();

  override tinyMs(task: string): number | undefined {
    return this.tiny.has(task) ? 0.001 : undefined;
  }

  override distrust(task: string): void {
    this.tiny.delete(task);
  }
}

export class Harness {
  readonly pool: CpuPool;
  readonly gate = new Int32Array(new SharedArrayBuffer(16));
  threadStarts = 0;
  readonly lost: ErrorData[] = [];
  readonly logs: LogRecord[] = [];
  readonly progress: [string, number, string | null][] = [];
  /** Runs of each batch, in the order they were sent. */
  readonly batches: string[][] = [];
  piscina: Piscina | null = null;
  readonly #sizer = new TestSizer();
  readonly #queue: ExecuteOrder[] = [];
  readonly #outcomes = new Map<string, PromiseWithResolvers<Outcome>>();
  readonly #twice: string[] = [];
  readonly #ended = new Set<string>();
  #changed = Promise.withResolvers<void>();
  #made = 0;

  constructor(t: HasAfter, options: HarnessOptions = {}) {
    const workerData = { modules: [{ name: 'acts', file: fixture('acts') }], gate: this.gate.buffer };
    this.pool = new CpuPool({
      workerFile: options.workerFile ?? fixture('worker'),
      threads: options.threads ?? 2,
      idleMs: options.idleMs ?? 60_000,
      graceMs: options.graceMs ?? 200,
      source: { peekTask: () => this.#queue[0]?.task, take: () => this.#queue.shift() },
      workerData,
      ...(options.resourceLimits === undefined ? {} : { resourceLimits: options.resourceLimits }),
      clock: options.clock ?? systemClock,
      onOutcome: (outcome) => this.#onOutcome(outcome),
      onLog: (record) => this.#note(this.logs, record),
      onProgress: (run, fraction, note) => this.#note(this.progress, [run, fraction, note]),
      onThreadStarts: () => void this.threadStarts++,
      onThreadLost: (cause) => this.#note(this.lost, cause),
      sizer: options.measured === true ? new BatchSizer() : this.#sizer,
      createPiscina: (piscinaOptions) => this.#watch(new Piscina(piscinaOptions)),
    });
    t.after(async () => {
      Atomics.store(this.gate, 1, 1);
      Atomics.notify(this.gate, 1);
      await this.pool.destroy();
      assert.deepEqual(this.#twice, [], 'runs with two outcomes');
      assert.equal(Atomics.load(this.gate, 2), 0, 'orders that ran beside another on their thread');
      assert.equal(this.pool.active, 0);
      if (options.leavesOpen !== true) {
        const queued = new Set(this.#queue.map((order) => order.run));
        const open = [...this.#outcomes.keys()].filter((run) => !this.#ended.has(run) && !queued.has(run));
        assert.deepEqual(open, [], 'runs without outcome');
      }
    });
  }

  /** Puts an order into the source; `act` is what the handler does. */
  add(act: string, options: Submit = {}): string {
    const run = `${act}#${this.#made++}`;
    const { task = act, handler = 'acts', timeoutMs = 600_000, value, ms } = options;
    const input = JSON.stringify({ do: act, value, ms });
    this.#outcomes.set(run, Promise.withResolvers());
    this.#queue.push({ run, task, attempt: 1, handler, input, timeoutMs });
    return run;
  }

  outcome(run: string): Promise<Outcome> {
    const outcome = this.#outcomes.get(run);
    assert.ok(outcome !== undefined, `no such run: ${run}`);
    return outcome.promise;
  }

  hasEnded(run: string): boolean {
    return this.#ended.has(run);
  }

  /** Adds one order and waits for its outcome. */
  run(act: string, options?: Submit): Promise<Outcome> {
    const run = this.add(act, options);
    this.pool.wake();
    return this.outcome(run);
  }

  /** Orders of the task travel together, until it costs a thread. */
  makeTiny(task: string): void {
    this.#sizer.tiny.add(task);
  }

  /** Waits until `count` orders have reached their gate. */
  async reached(count: number): Promise<void> {
    for (;;) {
      const seen = Atomics.load(this.gate, 0);
      if (seen >= count) return;
      await Atomics.waitAsync(this.gate, 0, seen).value;
    }
  }

  /** Waits until something that the pool reports makes `condition` true. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await this.#changed.promise;
  }

  /** Waits until no thread is left. */
  async threadsEnded(): Promise<void> {
    while (this.pool.threadCount > 0) {
      assert.ok(this.piscina !== null);
      await once(this.piscina, 'workerDestroy');
      // The event comes before the thread leaves the list.
      await Promise.resolve();
    }
  }

  openGate(): void {
    Atomics.store(this.gate, 1, 1);
    Atomics.notify(this.gate, 1);
  }

  #onOutcome(outcome: Outcome): void {
    if (this.#ended.has(outcome.run)) this.#twice.push(outcome.run);
    this.#ended.add(outcome.run);
    this.#outcomes.get(outcome.run)?.resolve(outcome);
    this.#tellChanged();
  }

  #note<T>(list: T[], item: T): void {
    list.push(item);
    this.#tellChanged();
  }

  #tellChanged(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  #watch(piscina: Piscina): Piscina {
    const run = piscina.run.bind(piscina);
    piscina.run = (text: string, runOptions) => {
      const { orders } = JSON.parse(text) as BatchMessage;
      this.batches.push(orders.map((order) => order.run));
      return run(text, runOptions);
    };
    this.piscina = piscina;
    return piscina;
  }
}

/**
 * The fixtures as plain JavaScript, built once a process: a thread that must strip types takes four times as
 * long to start, and these tests start many.
 */
const built = tempDir({ after });
buildSync({
  entryPoints: ['worker', 'acts', 'broken-worker'].map((name) =>
    fileURLToPath(new URL(`fixtures/${name}.ts`, import.meta.url)),
  ),
  bundle: true,
  platform: 'node',
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  outdir: built,
});

/** Absolute path of a built fixture. */
export function fixture(name: 'worker' | 'acts' | 'broken-worker'): string {
  return join(built, `${name}.mjs`);
}
