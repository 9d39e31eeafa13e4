/** Tells of the ends of runs, each once: transitions come in batches, as they are recorded, some of them again. */
import type { RecordBatch, RunEvent } from '../../actors/records.ts';
import { isTerminal } from '../../actors/runs/index.ts';
import type { AppFlows } from './app-flows.ts';
import { endedRun } from './app-run.ts';
import type { Listeners } from './listeners.ts';

export interface EndTellerOptions {
  readonly listeners: Listeners;
  readonly flows: AppFlows;
  /** All ends so far have been told of. */
  readonly onTold: () => void;
}

export class EndTeller {
  readonly #options: EndTellerOptions;
  /** Ordinal of the last transition that was looked at, in this life of the daemon. */
  #seen = 0;
  /** To be told of when all of this turn are there. */
  readonly #ended: RunEvent[] = [];
  #planned = false;

  constructor(options: EndTellerOptions) {
    this.#options = options;
  }

  /** A daemon begins: its transitions are counted anew. */
  begin(): void {
    this.#seen = 0;
  }

  recorded({ first, events }: RecordBatch): void {
    const { listeners, flows } = this.#options;
    for (const event of events.slice(Math.max(0, this.#seen + 1 - first))) {
      if (!isTerminal(event.state) || event.quiet === true) continue;
      // Of the others nothing is read: a result may be long.
      if (listeners.has('runEnded') || flows.isHeard(event.task)) this.#ended.push(event);
    }
    this.#seen = Math.max(this.#seen, first + events.length - 1);
    if (this.#planned) return;
    this.#planned = true;
    queueMicrotask(() => this.#tell());
  }

  /** Transitions of one turn are merged by run, so a flow stands where it began: its end is told after those of its steps. */
  #tell(): void {
    const { listeners, flows, onTold } = this.#options;
    this.#planned = false;
    const ended = this.#ended.splice(0);
    const isFlow = ({ task }: RunEvent) => flows.has(task);
    for (const event of [...ended.filter((one) => !isFlow(one)), ...ended.filter(isFlow)]) {
      const run = endedRun(event);
      listeners.emit('runEnded', run);
      flows.ended(run, (listener) => listeners.call(run.task, () => listener(run)));
    }
    onTold();
  }
}
