/** Asks a daemon what became of things, and holds it against the ledger and against what was acknowledged. */
import { setTimeout as passed } from 'node:timers/promises';
import type {
  DeadLetterDocument,
  RunDocument,
  StatusDocument,
  TaskDocument,
} from '../../src/actors/control/documents.ts';
import type { FlowDocument } from '../../src/actors/control/flow-routes.ts';
import { ColibriError } from '../../src/actors/kernel/errors.ts';
import type { ControlClient } from '../../src/main/cli/client.ts';
import { type Graph, stepViolations } from './graphs.ts';
import type { Ledger } from './ledger.ts';
import type { Acknowledged } from './load.ts';
import { endViolations, ghostViolations, runViolations, TERMINAL, type Violation } from './violations.ts';
import { DOOMED, flowOf, isDoomed, isFlow, keepsLedger, taskOf } from './workload.ts';

/** Questions at a time. */
const LANES = 8;
const LOOK_MS = 50;
const MAX_LISTED = 1000;
const NOT_OVER = ['pending', 'ready', 'running', 'retrying', 'interrupted', 'orphaned'] as const;
/** What is younger may have come by schedule since nothing was live. */
const YOUNG_MS = 5000;

export interface InspectionOptions {
  readonly ledger: Ledger;
  readonly acknowledged: Acknowledged;
  /** Of the config, flows among them. */
  readonly tasks: number;
  readonly graphs: readonly Graph[];
  readonly report: (...violations: readonly Violation[]) => void;
}

/** Keeps what it knows from one daemon to the next. */
export class Inspection {
  readonly #ledger: Ledger;
  readonly #acknowledged: Acknowledged;
  readonly #report: InspectionOptions['report'];
  readonly #tasks: number;
  readonly #graphs: readonly Graph[];
  /** Runs of flows whose steps were looked at. */
  readonly #flows = new Set<string>();
  /** Run → how it ended, once that is known. */
  readonly #ended = new Map<string, string>();
  /** Runs of the ledger that are still to be held against the daemon. */
  readonly #touched = new Set<string>();
  /** Attempts that the daemon called interrupted, `RUN ATTEMPT`. */
  readonly #interrupted = new Set<string>();
  readonly #purged = new Set<string>();

  constructor({ ledger, acknowledged, tasks, graphs, report }: InspectionOptions) {
    this.#tasks = tasks;
    this.#graphs = graphs;
    this.#ledger = ledger;
    this.#acknowledged = acknowledged;
    this.#report = report;
  }

  get interruptions(): number {
    return this.#interrupted.size;
  }

  /** Right after a start: nothing of a life before is left on a slot, and each task stands once. */
  async afterStart(control: ControlClient, spawnedAtMs: number): Promise<void> {
    const { tasks } = (await control.get('/tasks')) as { readonly tasks: readonly TaskDocument[] };
    this.#report(...ghostViolations(await listRuns(control, 'running'), spawnedAtMs));
    if (tasks.length !== this.#tasks || new Set(tasks.map(({ name }) => name)).size !== this.#tasks) {
      this.#report({ rule: 'tasks', text: `expected ${this.#tasks} tasks, got ${tasks.length}` });
    }
  }

  /** What is not settled yet, `most` runs of it: all acknowledged runs are known, and the ledger is explained. */
  async look(control: ControlClient, most = Number.POSITIVE_INFINITY): Promise<void> {
    this.#readLedger();
    const wanted = new Set<string>();
    for (const run of [...this.#touched, ...this.#open()]) {
      if (wanted.size >= most) break;
      wanted.add(run);
    }
    await eachOf([...wanted], (run) => this.#lookAt(control, run));
    for (const run of this.#acknowledged.doubles.splice(0)) {
      this.#report({ rule: 'id-twice', text: `${run}: acknowledged twice` });
    }
  }

  /** Everything that was ever acknowledged, once more: what was over has stayed so. */
  async lookAgain(control: ControlClient): Promise<void> {
    await eachOf([...this.#acknowledged], (run) => this.#lookAt(control, run));
  }

  /** Waits until all that was acknowledged is over and nothing is live but what the schedule makes anew. */
  async drained(control: ControlClient, limitMs: number): Promise<void> {
    const endMono = performance.now() + limitMs;
    for (;;) {
      await this.look(control);
      const { live_runs: live } = (await control.get('/status')) as StatusDocument;
      const open = this.#open();
      if (live === 0 && open.length === 0) break;
      if (performance.now() > endMono) {
        const text = (run: string) => `${run}: not over ${limitMs} ms after the last trigger`;
        this.#report(...open.map((run) => ({ rule: 'not-over', text: text(run) })));
        // With nothing open, what is live is what the schedule makes anew: a slow machine may have some all the time.
        break;
      }
      await passed(LOOK_MS);
    }
    const old = Date.now() - YOUNG_MS;
    for (const state of NOT_OVER) {
      for (const { run, created_at } of await listRuns(control, state)) {
        if (Date.parse(created_at) > old) continue;
        this.#report({
          rule: 'left-over',
          text: `${run}: ${state} since ${created_at}, and all that was triggered is over`,
        });
      }
    }
  }

  /**
   * Every run of the task that cannot succeed is a dead letter, what was purged is none, and the others are explained.
   * Gives the others.
   */
  async deadLetters(control: ControlClient): Promise<readonly string[]> {
    const { dead_letters: letters } = (await control.get('/dead', { limit: `${MAX_LISTED}` })) as {
      readonly dead_letters: readonly DeadLetterDocument[];
    };
    const dead = new Set(letters.map(({ run }) => run));
    for (const [run, state] of this.#ended) {
      const missing =
        state === 'failed' && taskOf(run) === DOOMED && !dead.has(run) && !this.#purged.has(run);
      if (missing) this.#report({ rule: 'letter-lost', text: `${run}: failed, and no dead letter` });
    }
    // A flow fails where a step of it does, which is looked at by itself.
    const others = [...dead].filter((run) => taskOf(run) !== DOOMED && !isFlow(run));
    for (const run of dead) {
      if (this.#purged.has(run)) this.#report({ rule: 'letter-back', text: `${run}: purged, and back` });
    }
    await eachOf(others, async (run) => {
      const view = await showRun(control, run);
      this.#report(...endViolations({ run, view, after: this.#ledger.of(run), doomed: false }));
    });
    return others;
  }

  /** Replays these dead letters, and takes away all others. */
  async clearLetters(control: ControlClient, replayed: readonly string[]): Promise<void> {
    if (replayed.length > 0) await control.post('/dead/replay', { body: { runs: replayed } });
    await control.post('/dead/purge', { body: { all: true } });
    for (const [run, state] of this.#ended) if (state === 'failed') this.#purged.add(run);
  }

  /** The steps of each run of a flow that is over, once. */
  async flows(control: ControlClient): Promise<void> {
    const over = [...this.#ended.keys()].filter((run) => isFlow(run) && !this.#flows.has(run));
    await eachOf(over, async (run) => {
      this.#flows.add(run);
      const graph = this.#graphs.find(({ flow }) => flow === taskOf(run))!;
      const view = (await control.get(`/flows/${encodeURIComponent(run)}`)) as FlowDocument;
      this.#report(...stepViolations(graph, view));
    });
  }

  get flowsSeen(): number {
    return this.#flows.size;
  }

  /** Acknowledged and not known to be over. */
  #open(): string[] {
    return [...this.#acknowledged].filter((run) => !this.#ended.has(run));
  }

  #readLedger(): void {
    for (const { run } of this.#ledger.read()) this.#touched.add(run);
  }

  async #lookAt(control: ControlClient, run: string): Promise<void> {
    const before = [...this.#ledger.of(run)];
    const view = await showRun(control, run);
    this.#readLedger();
    const after = this.#ledger.of(run);
    if (view === null && this.#acknowledged.has(run)) {
      this.#report({ rule: 'lost', text: `${run}: acknowledged, and not known` });
      // Nobody has to wait for it.
      this.#ended.set(run, 'lost');
    }
    if (view !== null) this.#note(run, view);
    if (keepsLedger(run)) {
      const doomed = isDoomed(run, this.#graphs) || this.#acknowledged.cancelled.has(flowOf(run));
      this.#report(...runViolations({ run, before, view, after, doomed }));
    }
    const settled = view === null || TERMINAL.has(view.state);
    if (settled && before.length === after.length) this.#touched.delete(run);
  }

  #note(run: string, { state, attempts }: RunDocument): void {
    for (const { attempt, state: told } of attempts)
      if (told === 'interrupted') this.#interrupted.add(`${run} ${attempt}`);
    const known = this.#ended.get(run);
    if (known !== undefined && known !== state) {
      this.#report({ rule: 'end-changed', text: `${run}: ${known} before, ${state} now` });
    }
    if (TERMINAL.has(state)) this.#ended.set(run, state);
  }
}

async function showRun(control: ControlClient, run: string): Promise<RunDocument | null> {
  try {
    return (await control.get(`/runs/${encodeURIComponent(run)}`)) as RunDocument;
  } catch (error) {
    if (error instanceof ColibriError && error.code === 'no-such-run') return null;
    throw error;
  }
}

async function listRuns(control: ControlClient, state: string): Promise<readonly RunDocument[]> {
  const { runs } = (await control.get('/runs', { state, limit: `${MAX_LISTED}` })) as {
    readonly runs: readonly RunDocument[];
  };
  return runs;
}

async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < items.length) await work(items[next++]!);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}
