/** What a daemon may write, made of a list of numbers: legal transitions of a few runs, in batches, with all beside them. */
import type { StoreMessages } from '../../src/actors/protocol.ts';
import type { AuditEntry, RecordBatch, RunEvent } from '../../src/actors/records.ts';
import { isTerminal, RUN_TRANSITIONS, type RunState } from '../../src/actors/runs/run-states.ts';
import { markOf } from './feed.ts';

export type Step =
  | { readonly do: 'record'; readonly batch: RecordBatch }
  | { readonly do: 'audit'; readonly entry: AuditEntry }
  | { readonly do: 'mount'; readonly body: StoreMessages['mount']['body'] }
  | { readonly do: 'ask'; readonly run: string; readonly mark: string }
  | { readonly do: 'commit' };

interface RunNow {
  readonly run: string;
  readonly task: string;
  state: RunState | null;
  attempt: number;
  mark: string | null;
  flow: string | null;
}

const RUNS = 8;
/** The run of a flow, of which others are steps; this one takes some over, and so does the other. */
const FLOW = 'a@0';
const AGAIN = 'a@4';
/** Runs of items among them. */
const ITEMS: Readonly<Record<number, string>> = { 3: 'a@0/b[3]', 5: 'a@0/b[5]' };
const ERROR = { code: 'handler-failed', message: 'no' } as const;
const BEGINNINGS: readonly RunState[] = ['ready', 'running', 'pending', 'success', 'skipped'];

export class RandomHistory {
  readonly steps: Step[] = [];
  readonly #runs: readonly RunNow[];
  readonly #dead: string[] = [];
  #nowMs = 1000;
  #first = 1;
  #events: RunEvent[] = [];

  constructor() {
    this.#runs = Array.from({ length: RUNS }, (_, index) => {
      const task = 'ab'[index % 2]!;
      return {
        run: ITEMS[index] ?? `${task}@${index}`,
        task,
        state: null,
        attempt: 0,
        mark: null,
        flow: null,
      };
    });
  }

  /** The last step is a commit. */
  static of(choices: readonly number[]): readonly Step[] {
    const history = new RandomHistory();
    history.steps.push({ do: 'mount', body: mountOf(0) }, { do: 'commit' });
    for (const choice of choices) history.#choose(choice);
    history.#flush([]);
    history.steps.push({ do: 'commit' });
    return history.steps;
  }

  #choose(choice: number): void {
    const kind = choice % 16;
    const more = choice >> 4;
    this.#nowMs += 10;
    if (kind < 9) return void this.#events.push(this.#next(this.#runs[more % RUNS]!, more >> 3));
    if (kind === 9) return void this.#events.push(this.#quiet(more));
    this.#flush(kind === 10 ? this.#dead.splice(0, 1 + (more % 3)) : []);
    if (kind === 11 || kind === 12) this.steps.push({ do: 'commit' });
    if (kind === 13) this.steps.push({ do: 'audit', entry: this.#audit(more) });
    if (kind === 14) this.steps.push({ do: 'mount', body: mountOf(more) });
    if (kind === 15)
      this.steps.push({ do: 'ask', run: this.#runs[more % RUNS]!.run, mark: markOf(more % 5) });
  }

  #flush(dropped: readonly string[]): void {
    if (this.#events.length === 0 && dropped.length === 0) return;
    this.steps.push({ do: 'record', batch: { first: this.#first, events: this.#events, dropped } });
    this.#first += this.#events.length;
    this.#events = [];
  }

  #next(now: RunNow, choice: number): RunEvent {
    const fresh = now.state === null || isTerminal(now.state);
    const choices = fresh ? BEGINNINGS : RUN_TRANSITIONS[now.state!];
    const state = choices[choice % choices.length]!;
    const more = choice >> 3;
    const born = fresh ? this.#birth(now, more) : {};
    if (state === 'running' || (fresh && state === 'success')) now.attempt++;
    now.state = state;
    const { run, task, attempt, mark, flow } = now;
    const common = { run, task, state, attempt, atMs: this.#nowMs, ...born };
    if (isTerminal(state))
      return {
        ...common,
        ...this.#endOf(now, more),
        ...(mark === null ? {} : { mark }),
        ...(flow === null ? {} : { flow }),
      };
    if (state === 'running' && run === FLOW) return { ...common, note: `{"n":${more}}` };
    if (state === 'retrying') return { ...common, error: ERROR, durationMs: 3, dueAtMs: this.#nowMs + 500 };
    return state === 'interrupted' ? { ...common, error: more % 2 === 0 ? ERROR : null } : common;
  }

  #birth(now: RunNow, choice: number): Partial<RunEvent> {
    now.attempt = 0;
    now.mark = choice % 3 === 0 ? markOf(choice % 5) : null;
    const isFlow = now.run === FLOW || now.run === AGAIN;
    now.flow = !isFlow && now.mark === null && choice % 5 < 3 ? FLOW : null;
    const dead = this.#dead.indexOf(now.run);
    if (dead >= 0) this.#dead.splice(dead, 1);
    return {
      origin: choice % 2 === 0 ? 'manual' : 'schedule',
      createdAtMs: this.#nowMs,
      ...(choice % 2 === 0 ? {} : { occurrenceMs: this.#nowMs - (choice % 7) }),
      ...(choice % 5 === 0 ? { dueAtMs: this.#nowMs + 5 } : {}),
      ...(choice % 4 === 0 ? { input: `{"n":${choice}}` } : {}),
      ...(now.mark === null ? {} : { mark: now.mark }),
      ...(now.flow === null ? {} : { flow: now.flow }),
      ...(isFlow && choice % 2 === 0 ? { adopts: ['b@1', 'a@2'] } : {}),
    };
  }

  #endOf({ run, state, attempt, flow }: RunNow, choice: number): Partial<RunEvent> {
    const duration = attempt > 0 ? { durationMs: 4 } : {};
    if (state === 'success') return { ...duration, result: choice % 3 === 0 ? null : `${choice}` };
    if (state !== 'failed') return duration;
    if (choice % 2 === 0 || flow !== null) return { ...duration, error: ERROR };
    this.#dead.push(run);
    return { ...duration, error: ERROR, dead: true };
  }

  #quiet(choice: number): RunEvent {
    const run = `scan@${this.#nowMs}`;
    const occurrence = choice % 2 === 0 ? { occurrenceMs: this.#nowMs } : {};
    return { run, task: 'a', state: 'success', attempt: 1, atMs: this.#nowMs, quiet: true, ...occurrence };
  }

  #audit(choice: number): AuditEntry {
    return { atMs: this.#nowMs, actor: 'ann (1)', action: 'cancel', target: null, fields: { choice } };
  }
}

function mountOf(choice: number): StoreMessages['mount']['body'] {
  const all = [
    { task: 'a', schedule: 'every 5s' },
    { task: 'b', schedule: choice % 3 === 0 ? 'every 6s' : 'every 7s' },
  ];
  return { atMs: 500 + choice, schedules: choice % 4 === 1 ? all.slice(0, 1) : all };
}
