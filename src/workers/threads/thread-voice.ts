/**
 * What a cpu thread says beside its answers: outcomes ahead of time, log lines, progress, its own end.
 *
 * Nothing bounds how fast main reads, so what a handler can cause is bounded here: log lines a second
 * (`LogLimiter`), and the length of each.
 */
import { systemClock } from '../../actors/kernel/clock.ts';
import { cutText } from '../../actors/kernel/errors.ts';
import type { LogRecord } from '../../actors/protocol.ts';
import type { ThreadMessage } from '../cpu-pool/cpu-protocol.ts';
import type { ContextLogLine } from '../handler-context.ts';
import { LogLimiter } from '../log-limiter.ts';

const FIELDS_LIMIT = 16 * 1024;

export class ThreadVoice {
  readonly #post: (text: string) => void;
  readonly #limiter = new LogLimiter({
    clock: systemClock,
    thread: 'cpu',
    write: (record) => this.#write(record),
  });

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
    if (!this.#limiter.take()) return;
    const { level, task, run, attempt, message } = line;
    const fields = { ...plainFields(line.fields), task, run, attempt };
    this.#write({ level, atMs: Date.now(), msg: cutText(message), fields });
  }

  /** A line that a user's module printed. */
  printed(level: 'info' | 'warn', msg: string): void {
    if (this.#limiter.take()) {
      this.#write({ level, atMs: Date.now(), msg, fields: { thread: 'cpu', printed: true } });
    }
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
