/**
 * What a cpu thread says beside its answers: outcomes ahead of time, log lines, progress, its own end.
 *
 * Nothing bounds how fast main reads, so what a handler can cause is bounded here: log lines a second,
 * and the length of each. Lines above that are counted and the count is said.
 */
import { cutText } from '../../actors/kernel/errors.ts';
import type { LogRecord } from '../../actors/protocol.ts';
import type { ThreadMessage } from '../cpu-pool/cpu-protocol.ts';
import type { ContextLogLine } from '../handler-context.ts';

const LINES_PER_SECOND = 200;
const FIELDS_LIMIT = 16 * 1024;

export class ThreadVoice {
  readonly #post: (text: string) => void;
  #windowEndMono = 0;
  #linesLeft = 0;
  #left = 0;

  /** `post` takes the JSON text of a `ThreadMessage`. */
  constructor(post: (text: string) => void) {
    this.#post = post;
  }

  say(message: ThreadMessage): void {
    this.#post(JSON.stringify(message));
  }

  progress(run: string, fraction: number, note: string | null): void {
    this.say({ kind: 'progress', run, fraction, note: note === null ? null : cutText(String(note), 200) });
  }

  log(line: ContextLogLine): void {
    const nowMono = performance.now();
    if (nowMono >= this.#windowEndMono) {
      this.#windowEndMono = nowMono + 1000;
      this.#linesLeft = LINES_PER_SECOND;
      this.#sayLeft();
    }
    if (this.#linesLeft === 0) {
      this.#left++;
      return;
    }
    this.#linesLeft--;
    const { level, task, run, attempt, message } = line;
    const fields = { ...plainFields(line.fields), task, run, attempt };
    this.#write({ level, atMs: Date.now(), msg: cutText(message), fields });
  }

  #sayLeft(): void {
    if (this.#left === 0) return;
    const msg = `expected at most ${LINES_PER_SECOND} log lines a second from a cpu thread, left out ${this.#left}`;
    this.#left = 0;
    this.#write({ level: 'warn', atMs: Date.now(), msg, fields: null });
  }

  #write(record: LogRecord): void {
    this.say({ kind: 'log', record });
  }
}

/** Fields as JSON can carry them; a note in their place where it cannot or where they are too long. */
function plainFields(fields: ContextLogLine['fields']): Readonly<Record<string, unknown>> {
  if (fields === null) return {};
  try {
    const text = JSON.stringify(fields);
    if (text.length <= FIELDS_LIMIT) return JSON.parse(text) as Record<string, unknown>;
    return { fields: `[${text.length} characters left out]` };
  } catch {
    return { fields: '[no JSON]' };
  }
}
