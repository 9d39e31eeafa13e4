/**
 * How much the journal keeps of runs that are over: in number, results in number and age, all in bytes. The oldest go
 * first. Counted in memory, so that a commit which has nothing to forget asks nothing.
 */
import type { Retention } from '../store.ts';
import type { Statements } from './statements.ts';

/** Bytes are looked at when the file has grown by this share of the bound. */
const BYTES_CHECK_SHARE = 1 / 16;
/** Of audit entries; looked at once in so many. */
const AUDITS_KEPT = 10_000;
const AUDITS_CHECK = 100;

export class JournalBounds {
  readonly #statements: Statements;
  readonly #retention: Retention;
  readonly #nowMs: () => number;
  readonly #pageSize: number;
  #over: number;
  #results: number;
  /** Bytes in use above which the runs are looked at again. */
  #checkBytes: number;
  #audits = 0;
  /** Files may be more than the bound, or forgotten. */
  #looksAtFiles: boolean;
  /** Some run is a step of a flow that is not over: it counts for nothing here. */
  holds: boolean;

  constructor(statements: Statements, retention: Retention, nowMs: () => number) {
    this.#statements = statements;
    this.#retention = retention;
    this.#nowMs = nowMs;
    this.#pageSize = numberOf(statements.pageSize.get(), 'page_size');
    this.holds = statements.anyHeld.get() !== undefined;
    this.#over = numberOf(statements.countOver.get(), 'n');
    this.#results = numberOf(statements.countResults.get(), 'n');
    this.#checkBytes = retention.maxBytes;
    this.#looksAtFiles = statements.files.get() !== undefined;
  }

  /** Some result lies in a file, or has come to count. */
  lookAtFiles(): void {
    this.#looksAtFiles = true;
  }

  /** Runs that are over have become more (or fewer, below 0), and of those that keep a result. */
  count(over: number, results: number): void {
    this.#over += over;
    this.#results += results;
  }

  countAudit(): void {
    if (++this.#audits % AUDITS_CHECK === 0) this.#statements.trimAudit.run(AUDITS_KEPT);
  }

  /** Of the file, without pages that are free. */
  get usedBytes(): number {
    const { pages, freePages } = this.#statements;
    const used = numberOf(pages.get(), 'page_count') - numberOf(freePages.get(), 'freelist_count');
    return used * this.#pageSize;
  }

  /** Forgets what is beyond the bounds; part of each transaction. */
  prune(): void {
    const { forgetOldest, forgetResults, forgetOldResults, forgetBeyondFileBytes } = this.#statements;
    const { runs, results, resultTtlMs, fileBytes } = this.#retention;
    if (this.#over > runs) this.#forgot(forgetOldest.run(this.#over - runs).changes);
    if (this.#results > 0) {
      this.#results -= Number(forgetOldResults.run(this.#nowMs() - resultTtlMs).changes);
    }
    if (this.#results > results) {
      this.#results -= Number(forgetResults.run(this.#results - results).changes);
    }
    if (this.#looksAtFiles) {
      this.#results -= Number(forgetBeyondFileBytes.run(fileBytes).changes);
      this.#looksAtFiles = false;
    }
    this.#pruneBytes();
  }

  #pruneBytes(): void {
    const { maxBytes } = this.#retention;
    const used = this.usedBytes;
    if (used <= this.#checkBytes) return;
    this.#forgot(this.#statements.forgetBeyondBytes.run(maxBytes).changes);
    this.#checkBytes = Math.max(maxBytes, this.usedBytes + maxBytes * BYTES_CHECK_SHARE);
  }

  #forgot(changes: number | bigint): void {
    if (changes === 0) return;
    this.#over -= Number(changes);
    if (this.#results > 0) this.#results = numberOf(this.#statements.countResults.get(), 'n');
  }
}

function numberOf(row: Readonly<Record<string, unknown>> | undefined, column: string): number {
  return Number(row?.[column] ?? 0);
}
