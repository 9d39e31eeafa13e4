/**
 * Lines that a budget held back: counted, and told in one line each once a second. Budgets of lines that belong to no
 * task are kept here too.
 */
import type { Clock, ClockTimer } from '../kernel/index.ts';
import type { LogRecord } from '../protocol.ts';
import { LineBudget } from './line-budget.ts';

const SUMMARY_MS = 1000;
/** Messages of the daemon itself that have a budget of their own; more share one. */
const MAX_OWN_BUDGETS = 256;

export class Summaries {
  readonly #clock: Clock;
  readonly #log: (record: LogRecord) => void;
  readonly #ownBudgets = new Map<string, LineBudget>();
  /** Budgets with suppressed lines, and the line that tells of them. */
  readonly #suppressed = new Map<LineBudget, (count: number) => LogRecord>();
  #timer: ClockTimer | null = null;
  #told = 0;

  constructor(clock: Clock, log: (record: LogRecord) => void) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Lines that stood for others only as a number, so far. */
  get told(): number {
    return this.#told;
  }

  /** By its message. */
  ownBudget(msg: string): LineBudget {
    const key = this.#ownBudgets.has(msg) || this.#ownBudgets.size < MAX_OWN_BUDGETS ? msg : '';
    let budget = this.#ownBudgets.get(key);
    if (budget === undefined) {
      budget = new LineBudget();
      this.#ownBudgets.set(key, budget);
    }
    return budget;
  }

  /** True where a summary of this budget is due already. */
  has(budget: LineBudget): boolean {
    return this.#suppressed.has(budget);
  }

  add(budget: LineBudget, tell: (count: number) => LogRecord): void {
    this.#suppressed.set(budget, tell);
    if (this.#timer !== null) return;
    this.#timer = this.#clock.setTimer(SUMMARY_MS, () => this.flush());
    this.#timer.unref();
  }

  flush(): void {
    this.#timer?.cancel();
    this.#timer = null;
    for (const [budget, tell] of this.#suppressed) {
      const count = budget.collect();
      this.#told += count;
      this.#log(tell(count));
    }
    this.#suppressed.clear();
  }
}
