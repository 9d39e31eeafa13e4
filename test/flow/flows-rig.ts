/**
 * Runs, flows and a store in one process, wired as a daemon wires them; the pools do what a test tells them. A daemon can be
 * dropped at any moment, and the next one goes on from the store.
 */

import assert from 'node:assert/strict';
import type { Outcome } from '../../src/actors/execution.ts';
import type { FlowNote } from '../../src/actors/flow/flow-note.ts';
import { compileFlow, type FlowDefinition, Flows, type StepDefinition } from '../../src/actors/flow/index.ts';
import { ColibriError } from '../../src/actors/kernel/errors.ts';
import { TestClock } from '../../src/actors/kernel/test-clock.ts';
import type { RerunChoice } from '../../src/actors/protocol.ts';
import type { RunEvent } from '../../src/actors/records.ts';
import { judgement, partOf } from '../../src/actors/results/result-questions.ts';
import { resultFileName } from '../../src/actors/results/result-reference.ts';
import { type FlowedRun, isTerminal, Runs, type RunsTask } from '../../src/actors/runs/index.ts';
import { MemoryStore, type Retention, SqliteStore, type Store } from '../../src/actors/store/index.ts';
import type { FlowView, RunView } from '../../src/actors/views/run-view.ts';
import { FakeAnswer, FakePool, taskSpec } from '../runs/runs-setup.ts';
import { journalFile, ROOMY } from '../store/sqlite-journal.ts';
import type { HasAfter } from '../support/temp-dir.ts';

export function stepDefinition(task: string, more: Partial<StepDefinition> = {}): StepDefinition {
  return {
    task,
    dependsOn: [],
    onUpstreamFailure: 'skip',
    each: null,
    with: null,
    expect: null,
    limits: null,
    ...more,
  };
}

export function flowDefinition(
  steps: readonly StepDefinition[],
  more: Partial<FlowDefinition> = {},
): FlowDefinition {
  return { name: 'f', steps, timeoutMs: null, onFailure: null, ...more };
}

export interface RigOptions {
  readonly flows: readonly FlowDefinition[];
  readonly tasks?: readonly RunsTask[];
  /** Of the journal; null: the store is in memory. */
  readonly file: string | null;
  readonly slots?: number;
  readonly ready?: number;
  /** True: the flows do not hear of this. */
  readonly isLost?: (run: FlowedRun) => boolean;
  /** Runs on slots; default: no bound. */
  readonly concurrency?: number;
  /** Default: 40 MB. */
  readonly budgetBytes?: number;
  /** A slot has taken a run. */
  readonly onTaken?: (run: string) => void;
  /** Of the tasks of all flows. */
  readonly overlap?: RunsTask['overlap'];
  /** Default: all is kept. */
  readonly retention?: Partial<Retention>;
}

class WatchedPool extends FakePool {
  onTaken: (run: string) => void = () => {};

  override wake(): void {
    const from = this.taken.length;
    super.wake();
    for (const { run } of this.taken.slice(from)) this.onTaken(run);
  }
}

export class FlowsRig {
  readonly clock = new TestClock();
  readonly events: RunEvent[] = [];
  /** Results in files, by path. */
  readonly files = new Map<string, unknown>();
  /** The next answer about runs of steps, which is as old as this; null: it is new. */
  oldSteps: ReturnType<Store['flowSteps']> | null = null;
  /** The store's word that it has something waits for it. */
  acknowledged: Promise<void> = Promise.resolve();
  /** Looks into files wait for it. */
  disk: Promise<void> = Promise.resolve();
  /** Questions about what is in files. */
  looks = 0;
  /** Questions about results in the journal. */
  asked = 0;
  /** A slot has taken a run. */
  onTaken: (run: string) => void;
  /** Dead letters that are none any more, and the run by which. */
  readonly resolved: (readonly [readonly string[], string])[] = [];
  /** Runs that the store has the end of. */
  readonly over = new Set<string>();
  runs!: Runs;
  flows!: Flows;
  pool!: FakePool;
  store!: Store;
  definitions: readonly FlowDefinition[];
  readonly #options: RigOptions;
  #boot = 0;

  constructor(options: RigOptions) {
    this.#options = options;
    this.onTaken = options.onTaken ?? (() => {});
    this.definitions = options.flows;
    this.#begin();
  }

  /** The daemon is gone, with all that it has not sent; the next one takes over. */
  async crash(definitions: readonly FlowDefinition[] = this.definitions): Promise<void> {
    assert.ok(this.#options.file !== null, 'a store in memory keeps nothing');
    await this.flows.destroy();
    this.runs.destroy();
    this.store.close();
    this.definitions = definitions;
    this.#begin();
    await this.settle();
  }

  close(): void {
    void this.flows.destroy();
    this.runs.destroy();
    this.store.close();
  }

  trigger(flow = 'f', payload: unknown = null): FakeAnswer {
    const answer = new FakeAnswer();
    const text = payload === null ? null : JSON.stringify(payload);
    this.runs.trigger({ task: flow, payload: text, force: false, wait: false, dueAtMs: null }, answer);
    return answer;
  }

  /** Triggers and gives the id. */
  async start(flow = 'f', payload: unknown = null): Promise<string> {
    const answer = this.trigger(flow, payload);
    await this.settle();
    assert.equal(answer.error, undefined);
    return (answer.value as { run: string }).run;
  }

  /** Gives the outcome of a run that the pool holds. */
  finish(run: string, outcome: Partial<Outcome> = {}): void {
    const order = this.pool.held.get(run);
    assert.ok(
      order !== undefined,
      `the pool does not hold ${run}, but ${[...this.pool.held.keys()].join(', ')}`,
    );
    this.pool.held.delete(run);
    const { attempt } = order;
    const done = { status: 'success', result: 'null', error: null, durationMs: 1, retryable: false } as const;
    this.runs.outcome({ run, attempt, ...done, ...outcome });
  }

  fail(run: string): void {
    this.finish(run, { status: 'failed', error: { code: 'handler-failed', message: 'no luck' } });
  }

  result(run: string, value: unknown): void {
    this.finish(run, { result: JSON.stringify(value) });
  }

  /** As `result` does, of one that lies in a file. */
  fileResult(run: string, value: unknown): string {
    const path = `/state/results/${resultFileName(run, 1, 'x')}`;
    this.files.set(path, value);
    this.result(run, { $file: path, $bytes: JSON.stringify(value).length });
    return path;
  }

  #inFile(path: string): unknown {
    this.looks++;
    if (this.files.has(path)) return this.files.get(path);
    throw new ColibriError('input-invalid', 'expected the file of a result, got nothing');
  }

  /** Steps on a slot, without the id of their flow. */
  get held(): string[] {
    return [...this.pool.held.keys()].map((run) => run.slice(run.indexOf('/') + 1));
  }

  async settle(): Promise<void> {
    for (let turn = 0; turn < 6; turn++) await this.clock.advance(0);
  }

  /** Runs a flow again; gives the id. */
  async again(run: string, choice: RerunChoice = { kind: 'failed' }): Promise<string> {
    const answer = new FakeAnswer();
    await this.flows.rerun({ run, choice }, answer);
    await this.settle();
    assert.equal(answer.error, undefined);
    return (answer.value as { run: string }).run;
  }

  /** All has come of it that can, and the store knows. */
  async told(): Promise<void> {
    await this.settle();
    await this.runs.settled();
    await this.settle();
  }

  show(run: string): Promise<FlowView> {
    return this.flows.show(run);
  }

  view(run: string): RunView | null {
    return this.runs.table.get(run)?.view() ?? this.store.show(run);
  }

  note(run: string): FlowNote {
    return JSON.parse(this.view(run)?.note ?? '{}') as FlowNote;
  }

  /** `step state reason`, of a flow run. */
  async states(run: string): Promise<string[]> {
    const { steps } = await this.show(run);
    return steps!.map(({ step, state, reason }) => `${step} ${state}${reason === null ? '' : ` ${reason}`}`);
  }

  #begin(): void {
    const {
      file,
      tasks = [],
      slots = 100,
      ready = 1000,
      isLost = () => false,
      overlap = 'skip',
    } = this.#options;
    const nowMs = () => this.clock.wallMs();
    const retention = { ...ROOMY, ...this.#options.retention };
    this.store =
      file === null
        ? new MemoryStore(retention, nowMs)
        : new SqliteStore({ file, durability: 'process', retention, nowMs });
    const opening = this.store.open(`boot-${++this.#boot}`, 0);
    const known = new Map<string, RunsTask>();
    const names = this.definitions.flatMap(({ steps, onFailure }) => [
      ...steps.map(({ task }) => task),
      ...(onFailure === null ? [] : [onFailure.task]),
    ]);
    for (const name of names) known.set(name, taskSpec({ name }));
    for (const task of tasks) known.set(task.name, task);
    const flowTasks = this.definitions.map(({ name }) =>
      taskSpec({ name, kind: 'flow', pool: 'flow', handler: '', overlap }),
    );
    const alive = ++this.#life;
    const runs: Runs = new Runs({
      clock: this.clock,
      random: () => 0.5,
      tasks: [...known.values(), ...flowTasks],
      groups: {},
      bounds: { concurrency: this.#options.concurrency ?? null, ageingMs: 60_000 },
      queues: {
        ready: { capacity: ready, whenFull: 'block' },
        delayed: { capacity: 1000 },
        retry: { capacity: 100 },
        deadLetter: { capacity: 100, whenFull: 'drop-oldest' },
      },
      durable: file !== null,
      flows: {
        onStep: (run) => {
          if (!isLost(run)) this.flows.onStep(run);
        },
        limitsOf: (run, flow) => this.flows.limitsOf(run, flow),
      },
      record: (batch) => {
        if (alive !== this.#life) return true;
        this.events.push(...batch.events.map((event) => ({ ...event })));
        this.store.append(batch);
        this.store.commit();
        for (const { run, state } of batch.events) if (isTerminal(state)) this.over.add(run);
        const { kept } = this.store;
        void this.acknowledged.then(() => runs.journal.recorded(kept));
        return true;
      },
      warn: () => {},
    });
    this.runs = runs;
    const store = this.store;
    this.flows = new Flows({
      clock: this.clock,
      flows: this.definitions,
      tasks: new Set(known.keys()),
      runs,
      store: {
        steps: async (place) => {
          const old = this.oldSteps;
          this.oldSteps = null;
          return copy(old ?? store.flowSteps(place));
        },
        results: async (asked, mostLength) => {
          this.asked++;
          return copy(store.results(asked, mostLength));
        },
        kept: async (asked) => copy(store.keptResults(asked)),
        list: async (filter) => copy(store.list(filter)),
        show: async (run) => copy(store.show(run)),
        part: async (path, way) => {
          await this.disk;
          return copy(partOf(this.#inFile(path), way));
        },
        judge: async (path, expectation, lastGood) => {
          await this.disk;
          return copy(judgement(expectation, this.#inFile(path), lastGood));
        },
      },
      budgetBytes: this.#options.budgetBytes ?? 40 * 2 ** 20,
      log: () => {},
      onResolved: (letters, by) => this.resolved.push([letters, by]),
    });
    runs.attachPool(this.flows);
    const pool = new WatchedPool('io', slots, runs.source('io'));
    pool.onTaken = (run) => this.onTaken(run);
    this.pool = pool;
    runs.attachPool(this.pool);
    for (let after = 0, more = opening.unfinished > 0; more; ) {
      const page = store.unfinished(after);
      for (const run of page.runs) runs.restore(run);
      more = page.next !== null;
      after = page.next ?? 0;
    }
    for (const letter of store.letters(0).letters) runs.restoreLetter(letter);
    runs.restored(opening.delayed);
  }

  #life = 0;
}

function copy<T>(value: T): T {
  return structuredClone(value);
}

/** Throws where there are problems. */
export function compiled(definition: FlowDefinition): void {
  const names = new Set(definition.steps.map(({ task }) => task));
  assert.deepEqual(compileFlow(definition, names).problems, []);
}

/** With a journal in a file or in memory; closed at the end of the test. */
export function rigOf(t: HasAfter, kind: 'memory' | 'sqlite', options: Omit<RigOptions, 'file'>): FlowsRig {
  const file = kind === 'memory' ? null : journalFile(t);
  const rig = new FlowsRig({ file, ...options });
  t.after(() => rig.close());
  return rig;
}
