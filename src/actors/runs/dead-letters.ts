/**
 * The dead-letter queue: runs that failed for good, kept for a look and a replay. Bounded in number and in
 * bytes of text; what a full queue gives up is counted.
 */
import { errorTextLength } from '../kernel/errors.ts';
import type { DeadLetterChoice, DeadLetterView } from '../protocol.ts';

export interface DeadLetter extends DeadLetterView {
  /** Input laid over the task's `with`, as the run had it. */
  readonly rawInput: string | null;
  readonly mark: string | null;
}

/** Bytes of text kept in all dead letters together: 4 MiB. */
export const DEAD_LETTER_BYTES = 4 * 1024 * 1024;

export class DeadLetters {
  readonly capacity: number;
  readonly #whenFull: 'drop-oldest' | 'drop-newest';
  /** In order of death. */
  readonly #letters = new Map<string, DeadLetter>();
  #bytes = 0;
  #dropped = 0;

  constructor(capacity: number, whenFull: 'drop-oldest' | 'drop-newest') {
    this.capacity = capacity;
    this.#whenFull = whenFull;
  }

  get depth(): number {
    return this.#letters.size;
  }

  /** `rejected`: letters given up because the queue was full. */
  view(): { depth: number; capacity: number; rejected: number } {
    return { depth: this.depth, capacity: this.capacity, rejected: this.#dropped };
  }

  add(letter: DeadLetter): void {
    this.#drop(letter.run);
    this.#letters.set(letter.run, letter);
    this.#bytes += bytesOf(letter);
    while (this.#letters.size > this.capacity || this.#bytes > DEAD_LETTER_BYTES) {
      const victim = this.#whenFull === 'drop-newest' ? letter.run : this.#letters.keys().next().value;
      if (victim === undefined) return;
      this.#drop(victim);
      this.#dropped++;
      if (victim === letter.run) return;
    }
  }

  /** Newest first. */
  list(task: string | null, limit: number): DeadLetterView[] {
    const found: DeadLetterView[] = [];
    for (const letter of [...this.#letters.values()].reverse()) {
      if (found.length >= limit) break;
      if (task === null || letter.task === task) found.push(viewOf(letter));
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

  /** Forgets them; says how many. */
  purge(choice: DeadLetterChoice): number {
    const chosen = this.#choose(choice);
    for (const letter of chosen) this.#drop(letter.run);
    return chosen.length;
  }

  #choose(choice: DeadLetterChoice): DeadLetter[] {
    const named = choice.runs === null ? null : new Set(choice.runs);
    return [...this.#letters.values()].filter(
      (letter) =>
        (named === null || named.has(letter.run)) && (choice.task === null || letter.task === choice.task),
    );
  }

  #drop(run: string): void {
    const letter = this.#letters.get(run);
    if (letter === undefined) return;
    this.#bytes -= bytesOf(letter);
    this.#letters.delete(run);
  }
}

function viewOf(letter: DeadLetter): DeadLetterView {
  const { run, task, diedAtMs, attempts, input, error } = letter;
  return { run, task, diedAtMs, attempts, input, error };
}

function bytesOf(letter: DeadLetter): number {
  return 2 * (letter.run.length + letter.input.length + errorTextLength(letter.error)) + 256;
}
