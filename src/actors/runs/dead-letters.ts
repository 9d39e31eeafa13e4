/**
 * The dead-letter queue: runs that failed for good, kept for a look and a replay. Bounded in number and in
 * bytes of text; what a full queue gives up is counted.
 */
import type { ErrorData } from '../kernel/errors.ts';
import { errorBytes, textBytes } from '../kernel/index.ts';
import type { DeadLetterChoice, DeadLetterFilter } from '../protocol.ts';
import type { DeadLetterView } from '../views/run-view.ts';
import { layInput } from './order-input.ts';
import type { RunsTask } from './task-state.ts';

export interface DeadLetter {
  readonly run: string;
  /** As the task was when the run died. */
  readonly spec: RunsTask;
  /** Of the run of a flow: the instant that it stands for. */
  readonly dueAtMs: number;
  readonly diedAtMs: number;
  readonly attempts: number;
  /** Input laid over the task's `with`, as the run had it. */
  readonly rawInput: string | null;
  readonly mark: string | null;
  readonly error: ErrorData | null;
}

export interface DeadLettersOptions {
  readonly capacity: number;
  /** Of all letters together; one alone may be larger. */
  readonly maxBytes: number;
  readonly whenFull: 'drop-oldest' | 'drop-newest';
  /** A run is no dead letter any more. */
  readonly onDropped?: (run: string) => void;
}

/** Of one letter beside its texts: the object, and its place in the table. */
const LETTER_BYTES = 164;

export class DeadLetters {
  readonly capacity: number;
  readonly #options: DeadLettersOptions;
  /** In order of death. */
  readonly #letters = new Map<string, DeadLetter>();
  #bytes = 0;
  #dropped = 0;

  constructor(options: DeadLettersOptions) {
    this.capacity = options.capacity;
    this.#options = options;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get depth(): number {
    return this.#letters.size;
  }

  /** `rejected`: letters given up because the queue was full. */
  view(): { depth: number; capacity: number; rejected: number } {
    return { depth: this.depth, capacity: this.capacity, rejected: this.#dropped };
  }

  add(letter: DeadLetter): void {
    this.#remove(letter.run);
    this.#letters.set(letter.run, letter);
    this.#bytes += bytesOf(letter);
    const { maxBytes, whenFull } = this.#options;
    while (this.depth > this.capacity || (this.depth > 1 && this.#bytes > maxBytes)) {
      const victim = whenFull === 'drop-newest' ? letter.run : this.#letters.keys().next().value;
      if (victim === undefined) return;
      this.#drop(victim);
      this.#dropped++;
      if (victim === letter.run) return;
    }
  }

  /** Newest first. */
  list(filter: DeadLetterFilter): DeadLetterView[] {
    const found: DeadLetterView[] = [];
    for (const letter of [...this.#letters.values()].reverse()) {
      if (found.length >= filter.limit) break;
      if (fits(letter, filter)) found.push(viewOf(letter));
    }
    return found;
  }

  /** Takes out those that `admit` makes a run of; it gives the run's id, or null for no. */
  replay(
    choice: DeadLetterChoice,
    admit: (letter: DeadLetter) => string | null,
  ): { runs: string[]; refused: number } {
    const runs: string[] = [];
    let refused = 0;
    for (const letter of this.#choose(choice)) {
      const run = admit(letter);
      if (run === null) refused++;
      else {
        this.#drop(letter.run);
        runs.push(run);
      }
    }
    return { runs, refused };
  }

  /** What they are of has been done since: gives those that were dead letters. */
  resolve(runs: readonly string[]): string[] {
    const resolved = runs.filter((run) => this.#letters.has(run));
    for (const run of resolved) this.#drop(run);
    return resolved;
  }

  /** Forgets them; says how many. */
  purge(choice: DeadLetterChoice): number {
    const chosen = this.#choose(choice);
    for (const letter of chosen) this.#drop(letter.run);
    return chosen.length;
  }

  #choose(choice: DeadLetterChoice): DeadLetter[] {
    const named = choice.runs === null ? null : new Set(choice.runs);
    return [...this.#letters.values()].filter(
      (letter) => (named === null || named.has(letter.run)) && fits(letter, choice),
    );
  }

  #drop(run: string): void {
    this.#remove(run);
    this.#options.onDropped?.(run);
  }

  #remove(run: string): void {
    const letter = this.#letters.get(run);
    if (letter === undefined) return;
    this.#bytes -= bytesOf(letter);
    this.#letters.delete(run);
  }
}

function fits(
  { spec, diedAtMs }: DeadLetter,
  { task, sinceMs, untilMs }: Pick<DeadLetterFilter, 'task' | 'sinceMs' | 'untilMs'>,
): boolean {
  return (
    (task === null || spec.name === task) &&
    (sinceMs === null || diedAtMs >= sinceMs) &&
    (untilMs === null || diedAtMs < untilMs)
  );
}

function viewOf(letter: DeadLetter): DeadLetterView {
  const { run, spec, diedAtMs, attempts, rawInput, error } = letter;
  const input = layInput(spec.withJson, rawInput);
  return { run, task: spec.name, diedAtMs, attempts, input, error };
}

function bytesOf(letter: DeadLetter): number {
  const { run, rawInput, mark, error } = letter;
  return LETTER_BYTES + textBytes(run) + textBytes(rawInput) + textBytes(mark) + errorBytes(error);
}
