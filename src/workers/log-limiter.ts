/**
 * Bounds how fast the handlers of one thread log: so many lines a second leave it, the rest is counted and the count
 * is told when the second is over. Without it one loop with a log line in it would fill the links and mailboxes that
 * everything else goes through as well.
 */
import type { Clock } from '../actors/kernel/clock.ts';
import type { LogRecord } from '../actors/protocol.ts';

export const LOG_LINES_PER_SECOND = 200;
const WINDOW_MS = 1000;

export interface LogLimiterOptions {
  readonly clock: Clock;
  /** Whose lines these are, for the line that tells the count. */
  readonly thread: string;
  /** Takes the line that tells the count. */
  readonly write: (record: LogRecord) => void;
}

export class LogLimiter {
  readonly #options: LogLimiterOptions;
  #windowEndMono = Number.NEGATIVE_INFINITY;
  #used = 0;
  #left = 0;

  constructor(options: LogLimiterOptions) {
    this.#options = options;
  }

  /** True: the line may leave. False: it is counted. */
  take(): boolean {
    const { clock } = this.#options;
    const nowMono = clock.monoMs();
    if (nowMono >= this.#windowEndMono) {
      this.#windowEndMono = nowMono + WINDOW_MS;
      this.#used = 0;
    }
    if (this.#used < LOG_LINES_PER_SECOND) {
      this.#used++;
      return true;
    }
    if (this.#left++ === 0) clock.setTimer(this.#windowEndMono - nowMono, () => this.#tell()).unref();
    return false;
  }

  #tell(): void {
    const { clock, thread, write } = this.#options;
    const fields = { thread, left_out: this.#left, per_second: LOG_LINES_PER_SECOND };
    this.#left = 0;
    // Always the same words: telemetry knows by them how often they came.
    const msg = 'too many log lines, the rest was left out; log less, or in summary';
    write({ level: 'warn', atMs: clock.wallMs(), msg, fields });
  }
}
