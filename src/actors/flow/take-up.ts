/**
 * Holds flow runs against the runs of their steps as these are: of a daemon before, and of one in which an event was lost. The
 * store is asked for many of them at once and answers in pages; a flow is dealt with when all of its runs have come, and they are
 * let go before those of the next one. What is in memory is newer than the answer.
 */
import type { Clock, ClockTimer } from '../kernel/clock.ts';
import { toErrorData } from '../kernel/errors.ts';
import type { Judgement, LogRecord } from '../protocol.ts';
import type { StoredStep } from '../records.ts';
import type { Expectation } from '../results/expectation.ts';
import { isReference } from '../results/result-reference.ts';
import type { StepRuns } from '../runs/index.ts';
import { isTerminal } from '../runs/run-states.ts';
import type { SeenRun, SeenRuns } from './flow-events.ts';
import { type FlowStore, resultsOf, storedSteps } from './flow-store.ts';
import type { Guards } from './guards.ts';
import { failureRunId, type LiveFlow, stepRunId } from './live-flow.ts';

export interface TakeUpOptions {
  readonly clock: Clock;
  readonly store: FlowStore;
  readonly steps: StepRuns;
  readonly guards: Guards;
  readonly log: (level: LogRecord['level'], msg: string, fields: LogRecord['fields']) => void;
  /** It is still this one that lives. */
  readonly isLive: (live: LiveFlow) => boolean;
  readonly onSeen: (live: LiveFlow, seen: SeenRuns) => void;
}

/** Flow runs of one question. */
const AT_ONCE = 100;
const AGAIN_MS = 1000;

export class TakeUp {
  readonly #options: TakeUpOptions;
  #wanted = new Set<LiveFlow>();
  #running = false;
  #again: ClockTimer | null = null;
  #closed = false;

  constructor(options: TakeUpOptions) {
    this.#options = options;
  }

  get busy(): boolean {
    return this.#running || this.#wanted.size > 0;
  }

  add(live: LiveFlow): void {
    this.#wanted.add(live);
    if (this.#running || this.#closed || this.#again !== null) return;
    this.#running = true;
    void this.#run();
  }

  /** After a question that the store could not answer. */
  later(live: LiveFlow, error: unknown): void {
    this.#wanted.add(live);
    this.#wait(error);
  }

  close(): void {
    this.#closed = true;
    this.#again?.cancel();
  }

  async #run(): Promise<void> {
    while (this.#wanted.size > 0 && !this.#closed) {
      const some = [...this.#wanted].slice(0, AT_ONCE);
      for (const live of some) this.#wanted.delete(live);
      const left = new Map(some.map((live) => [live.id, live]));
      try {
        await this.#look(left);
      } catch (error) {
        for (const live of left.values()) this.#wanted.add(live);
        this.#wait(error);
        break;
      }
    }
    this.#running = false;
    // What came while the last answer was on its way.
    if (this.#wanted.size > 0 && !this.#closed && this.#again === null) {
      this.#running = true;
      void this.#run();
    }
  }

  #wait(error: unknown): void {
    if (this.#closed || this.#again !== null) return;
    const { clock, log } = this.#options;
    log('warn', 'flows wait for the store', {
      error: toErrorData(error, 'internal').message,
      again_ms: AGAIN_MS,
    });
    this.#again = clock.setTimer(AGAIN_MS, () => {
      this.#again = null;
      if (this.#running || this.#closed) return;
      this.#running = true;
      void this.#run();
    });
    this.#again.unref();
  }

  /** Those that are dealt with leave `left`. */
  async #look(left: Map<string, LiveFlow>): Promise<void> {
    const { store, guards } = this.#options;
    for (const { flow } of left.values()) if (!guards.knows(flow)) await guards.learn(flow.name, store);
    for await (const { flow, steps } of storedSteps([...left.keys()], store)) {
      const live = left.get(flow);
      if (live === undefined) continue;
      await this.#lookAt(live, steps);
      left.delete(flow);
    }
  }

  async #lookAt(live: LiveFlow, found: ReadonlyMap<string, StoredStep>): Promise<void> {
    const { isLive, onSeen } = this.#options;
    if (!isLive(live)) return;
    let stored = await this.#renewed(live, found);
    await this.#judge(live, stored);
    // Reading a result takes its time; from here on nothing waits.
    stored = await this.#renewed(live, stored);
    if (this.#closed || !isLive(live)) return;
    this.#endStrangers(live, stored);
    onSeen(live, this.#seen(live, stored));
  }

  /** Runs of steps that the flow of now does not have: they would wait for their task, or for nobody. */
  #endStrangers(live: LiveFlow, stored: ReadonlyMap<string, StoredStep>): void {
    for (const { run, flow, state } of stored.values()) {
      const isOwn = flow === live.id && run.startsWith(`${flow}/`) && run !== failureRunId(flow);
      if (isOwn && !isTerminal(state) && live.placeOf(run) === null) this.#options.steps.cancel(run);
    }
  }

  /** A run that has ended since is known to the store now, and to nobody else. */
  async #renewed(
    live: LiveFlow,
    found: ReadonlyMap<string, StoredStep>,
  ): Promise<ReadonlyMap<string, StoredStep>> {
    let known = found;
    // A run that begins much later is in the store alone, and stays so.
    for (let tries = 0; tries < 2 && this.#anyLeft(known); tries++) {
      for await (const { steps } of storedSteps([live.id], this.#options.store)) known = steps;
    }
    return known;
  }

  #anyLeft(stored: ReadonlyMap<string, StoredStep>): boolean {
    for (const { run, state } of stored.values()) {
      if (!isTerminal(state) && this.#options.steps.find(run) === null) return true;
    }
    return false;
  }

  /** Results that nobody has held against what is expected of them. */
  async #judge(live: LiveFlow, stored: ReadonlyMap<string, StoredStep>): Promise<void> {
    const { store, steps, guards } = this.#options;
    const { flow, note, id } = live;
    for (const [step, { expectation }] of flow.steps.entries()) {
      const name = flow.graph.nameOf(step);
      if (expectation === null || note.verdicts?.[name] !== undefined) continue;
      const run = stepRunId(id, name);
      const state = steps.find(run)?.state ?? stored.get(run)?.state;
      if (state !== 'success') continue;
      const results = await resultsOf([run], store, steps);
      if (note.verdicts?.[name] !== undefined) continue;
      const result = results.get(run) ?? null;
      if (isReference(result)) {
        const judgement = await this.#judgeFile(result.$file, expectation, guards.lastOf(live, step));
        if (note.verdicts?.[name] !== undefined) continue;
        guards.judged(live, step, judgement);
      } else guards.judge(live, step, expectation, result);
      steps.note(id, JSON.stringify(note));
    }
  }

  /** What cannot be looked into is not as expected. */
  async #judgeFile(file: string, expectation: Expectation, lastGood: number | null): Promise<Judgement> {
    try {
      return await this.#options.store.judge(file, expectation, lastGood);
    } catch (error) {
      const { code, message } = toErrorData(error, 'internal');
      if (code !== 'input-invalid') throw error;
      return { unmet: message, measure: null };
    }
  }

  #seen(live: LiveFlow, stored: ReadonlyMap<string, StoredStep>): SeenRuns {
    const { steps } = this.#options;
    const { flow, note } = live;
    return {
      run: (step, item) => {
        const place = { step, item };
        const id = live.idOf(place);
        if (live.starting.has(id)) return WANTED;
        const verdict = note.verdicts?.[live.keyOf(place)];
        if (verdict != null) return { state: 'failed', result: null, ...verdict };
        const run = steps.find(id);
        if (run !== null) live.saw(place, run);
        const row = run === null ? (stored.get(id) ?? null) : null;
        if (row !== null) live.sawPast(place, row);
        if (run === null && row === null) return null;
        const state = run?.state ?? row!.state;
        if (state === 'success' && verdict === undefined && flow.steps[step]!.expectation !== null) {
          // It ended after the others were held against what is expected of them.
          this.#wanted.add(live);
          return UNJUDGED;
        }
        const detail = (run === null ? row?.error : run.past?.error)?.message ?? null;
        return { state, result: null, reason: null, detail };
      },
      items: (step) => note.lists?.[flow.graph.nameOf(step)] ?? null,
    };
  }
}

/** Its result is still to be looked at. */
const UNJUDGED: SeenRun = { state: 'running', result: null, reason: null, detail: null };
/** On its way: there is nothing to be done about it. */
const WANTED: SeenRun = { state: 'ready', result: null, reason: null, detail: null };
