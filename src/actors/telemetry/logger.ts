/**
 * Log records as lines: JSON by pino, or readable ones for a terminal. A line is whole, ends with a newline,
 * and is at most `LINE_LIMIT` long: of a longer one only the names of what it is about are kept. Nothing here
 * waits or throws.
 */
import { type Logger as Pino, pino } from 'pino';
import type { LogRecord } from '../protocol.ts';
import { prettyLine } from './pretty.ts';

/** UTF-16 code units. A message and a stack of the longest kind fit in. */
export const LINE_LIMIT = 20_000;

export type LogThreshold = LogRecord['level'] | 'silent';

const RANK: Readonly<Record<LogThreshold, number>> = { debug: 20, info: 30, warn: 40, error: 50, silent: 99 };
/** Keys that the line itself uses; a field of that name gets an underscore. */
const RESERVED = ['level', 'time', 'msg'] as const;

export interface LoggerOptions {
  readonly level: LogThreshold;
  readonly pretty: boolean;
  readonly colours: boolean;
  readonly write: (line: string) => void;
}

export class Logger {
  readonly #options: LoggerOptions;
  readonly #rank: number;
  readonly #pino: Pino;
  #atMs = 0;
  #isoOfMs = Number.NaN;
  #iso = '';
  #cut: LogRecord | null = null;

  constructor(options: LoggerOptions) {
    this.#options = options;
    this.#rank = RANK[options.level];
    this.#pino = pino(
      {
        level: 'debug',
        base: null,
        formatters: { level: (label) => ({ level: label }) },
        timestamp: () => `,"time":"${this.#isoTime()}"`,
      },
      { write: (line: string) => this.#write(line) },
    );
  }

  enabled(level: LogRecord['level']): boolean {
    return RANK[level] >= this.#rank;
  }

  log(record: LogRecord): void {
    if (!this.enabled(record.level)) return;
    this.#cut = record;
    if (this.#options.pretty) {
      this.#write(prettyLine(record, this.#options.colours));
      return;
    }
    this.#atMs = record.atMs;
    this.#pino[record.level](safeFields(record.fields), record.msg);
  }

  #write(line: string): void {
    const record = this.#cut;
    if (line.length <= LINE_LIMIT || record === null) {
      this.#options.write(line);
      return;
    }
    // Once: what is left is short, whatever the record holds.
    this.#cut = null;
    const { task, run, attempt } = record.fields ?? {};
    const fields = { task: short(task), run: short(run), attempt, characters_cut: line.length };
    const cut: LogRecord = { ...record, msg: record.msg.slice(0, 1000), fields };
    if (this.#options.pretty) this.#options.write(prettyLine(cut, this.#options.colours));
    else this.#pino[record.level](fields, cut.msg);
  }

  #isoTime(): string {
    if (this.#atMs !== this.#isoOfMs) {
      this.#isoOfMs = this.#atMs;
      const at = new Date(this.#atMs);
      this.#iso = Number.isNaN(at.getTime()) ? 'unknown' : at.toISOString();
    }
    return this.#iso;
  }
}

function short(value: unknown): string | undefined {
  return typeof value === 'string' ? value.slice(0, 500) : undefined;
}

function safeFields(fields: LogRecord['fields']): Readonly<Record<string, unknown>> {
  if (fields === null) return {};
  if (!RESERVED.some((key) => key in fields)) return fields;
  const renamed: Record<string, unknown> = { ...fields };
  for (const key of RESERVED) {
    if (!(key in renamed)) continue;
    renamed[`${key}_`] = renamed[key];
    delete renamed[key];
  }
  return renamed;
}
