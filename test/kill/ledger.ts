/**
 * What handlers have really done, written down outside of the daemon: a line a mark, one `write` with O_APPEND a line.
 *
 *   run RUN ATTEMPT begin|end|fail|cut PID AT_MS .
 *
 * A line that a kill has cut short is told by its first word and its dot, whatever follows it. `end` stands right before a handler succeeds, `fail`
 * before it throws of its own, `cut` before it gives in to its signal.
 */
import { appendFileSync, closeSync, existsSync, openSync, readSync } from 'node:fs';

export const LedgerMark = { Begin: 'begin', End: 'end', Fail: 'fail', Cut: 'cut' } as const;
export type LedgerMark = (typeof LedgerMark)[keyof typeof LedgerMark];

export interface LedgerLine {
  readonly run: string;
  readonly attempt: number;
  readonly mark: LedgerMark;
  /** Of the daemon. */
  readonly pid: number;
  /** Wall time; 0 where it is not known. */
  readonly atMs: number;
}

const LINE = /^run (\S+) (\d+) (begin|end|fail|cut) (\d+) (\d+) \.$/;
const CHUNK_BYTES = 1024 * 1024;

export function appendLine(file: string, { run, attempt, mark, pid, atMs }: LedgerLine): void {
  appendFileSync(file, `run ${run} ${attempt} ${mark} ${pid} ${atMs} .\n`);
}

export function parseLine(text: string): LedgerLine | null {
  const match = LINE.exec(text);
  if (match === null) return null;
  const [, run, attempt, mark, pid, atMs] = match;
  return {
    run: run!,
    attempt: Number(attempt),
    mark: mark as LedgerMark,
    pid: Number(pid),
    atMs: Number(atMs),
  };
}

/** The file as it grows. */
export class Ledger {
  readonly file: string;
  /** All of them that were read, in the order they were written. */
  readonly lines: LedgerLine[] = [];
  readonly #byRun = new Map<string, LedgerLine[]>();
  /** First attempts as they began, by the process that they began in. */
  readonly #begunIn = new Map<number, LedgerLine[]>();
  #offset = 0;
  #rest = '';
  #torn = 0;

  constructor(file: string) {
    this.file = file;
  }

  /** Lines that a kill cut short. */
  get torn(): number {
    return this.#torn;
  }

  get runs(): Iterable<string> {
    return this.#byRun.keys();
  }

  /** In the order they were written. */
  of(run: string): readonly LedgerLine[] {
    return this.#byRun.get(run) ?? [];
  }

  /** First attempts that began in this process, in the order they did. */
  begunIn(pid: number): readonly LedgerLine[] {
    return this.#begunIn.get(pid) ?? [];
  }

  /** The lines since the last look. */
  read(): readonly LedgerLine[] {
    const texts = (this.#rest + this.#readOn()).split('\n');
    this.#rest = texts.pop()!;
    const before = this.lines.length;
    for (const text of texts) {
      const line = parseLine(text);
      if (line === null) {
        this.#torn++;
        continue;
      }
      this.lines.push(line);
      addTo(this.#byRun, line.run, line);
      if (line.attempt === 1 && line.mark === LedgerMark.Begin) addTo(this.#begunIn, line.pid, line);
    }
    return this.lines.slice(before);
  }

  #readOn(): string {
    if (!existsSync(this.file)) return '';
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    const fd = openSync(this.file, 'r');
    try {
      let text = '';
      for (;;) {
        const length = readSync(fd, buffer, 0, CHUNK_BYTES, this.#offset);
        if (length === 0) return text;
        this.#offset += length;
        text += buffer.toString('latin1', 0, length);
      }
    } finally {
      closeSync(fd);
    }
  }
}

function addTo<K>(map: Map<K, LedgerLine[]>, key: K, line: LedgerLine): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [line]);
  else known.push(line);
}
