/**
 * Watches how fast runs become dead letters: how many there are may be old news, how many are new is not. One line at
 * most for each window, when more than `DEAD_LETTERS_TOLERATED` came within the last one.
 */

export const DEAD_LETTER_WINDOW_MS = 5 * 60_000;
export const DEAD_LETTERS_TOLERATED = 10;
/** Of more within a window only the last are known. */
export const DEATHS_KEPT = 1000;
const TASKS_NAMED = 5;

interface Death {
  readonly atMono: number;
  readonly task: string;
}

export interface ManyDeadLetters {
  /** Within the window; `DEATHS_KEPT` stands for that many or more. */
  readonly count: number;
  readonly window_seconds: number;
  /** Those with the most of them, the worst first. */
  readonly tasks: readonly string[];
}

export class DeadLetterAlarm {
  /** Oldest first. */
  #deaths: Death[] = [];
  #toldAtMono = Number.NEGATIVE_INFINITY;

  count(task: string, nowMono: number): void {
    this.#deaths.push({ atMono: nowMono, task });
    if (this.#deaths.length > DEATHS_KEPT) this.#deaths.shift();
  }

  /** What there is to tell now; null: nothing. */
  take(nowMono: number): ManyDeadLetters | null {
    if (this.#deaths.length <= DEAD_LETTERS_TOLERATED) return null;
    if (nowMono - this.#toldAtMono < DEAD_LETTER_WINDOW_MS) return null;
    this.#deaths = this.#deaths.filter(({ atMono }) => nowMono - atMono < DEAD_LETTER_WINDOW_MS);
    const count = this.#deaths.length;
    if (count <= DEAD_LETTERS_TOLERATED) return null;
    this.#toldAtMono = nowMono;
    return { count, window_seconds: DEAD_LETTER_WINDOW_MS / 1000, tasks: this.#worst() };
  }

  #worst(): string[] {
    const byTask = new Map<string, number>();
    for (const { task } of this.#deaths) byTask.set(task, (byTask.get(task) ?? 0) + 1);
    const worst = [...byTask].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
    return worst.slice(0, TASKS_NAMED).map(([task]) => task);
  }
}
