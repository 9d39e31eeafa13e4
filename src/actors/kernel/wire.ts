/**
 * What crosses a thread: JSON text, one string a batch.
 *
 * Each envelope is written once, when it is sent: so its size is known, and a body that is no JSON fails at
 * its sender. A data frame joins these texts. On arrival everything is checked before it is believed: a bad
 * frame is `null`, a bad envelope in a good frame is `null` in its place, and nothing throws.
 *
 * A data frame: `a` runs of sequence numbers that the sender of the frame has consumed, as [first, count, …];
 * `s` sizes of the envelopes, 0 for a reply (which takes no credit); `e` the envelopes; `w` 1 where the sender
 * is out of credit and wants it back without delay. Everything else is a control frame, told by `k`.
 */
import type { Envelope, Reply } from './envelope.ts';
import { ColibriError, ERROR_CODES, type ErrorData } from './errors.ts';

/** The answer to a question, on its way to the thread of the asker. */
export interface ReplyEnvelope {
  /** `id` of the question. */
  readonly correlation: number;
  /** Thread of the asker. */
  readonly thread: string;
  readonly from: string;
  readonly reply: Reply;
}

export interface DataFrame {
  readonly k: 'data';
  readonly a: readonly number[];
  readonly s: readonly number[];
  readonly e: readonly unknown[];
  readonly w: boolean;
}

/**
 * Control frames. `lost`: another thread ended, nobody there will answer. `delayMs`: of the event loop. `heapBytes`:
 * what its heap uses. `collect`: memory is short, it is to collect its garbage at once. `collected`: it has, whoever
 * wanted it.
 */
export type ControlFrame =
  | { readonly k: 'ready' }
  | { readonly k: 'ping'; readonly n: number }
  | { readonly k: 'pong'; readonly n: number; readonly delayMs: number; readonly heapBytes: number }
  | { readonly k: 'collect' }
  | { readonly k: 'collected' }
  | { readonly k: 'close' }
  | { readonly k: 'closed' }
  | { readonly k: 'lost'; readonly thread: string; readonly cause: ErrorData };

const REPLY_START = '{"correlation":';

/** @throws `message-invalid` if the body cannot be written as JSON */
export function encodeEnvelope(envelope: Envelope): string {
  try {
    return JSON.stringify(envelope);
  } catch (error) {
    throw new ColibriError(
      'message-invalid',
      `expected the body of ${envelope.kind} to ${envelope.to} to be JSON data, got ${String(error)}`,
      { cause: error },
    );
  }
}

/** Never throws: a value that is no JSON becomes an answer that says so. */
export function encodeReply(reply: ReplyEnvelope): string {
  const { correlation, thread, from } = reply;
  try {
    return JSON.stringify({ correlation, thread, from, reply: reply.reply });
  } catch (error) {
    const message = `expected the answer of ${from} to be JSON data, got ${String(error)}`;
    return JSON.stringify({
      correlation,
      thread,
      from,
      reply: { ok: false, error: { code: 'message-invalid', message } satisfies ErrorData },
    });
  }
}

export function isReplyText(text: string): boolean {
  return text.startsWith(REPLY_START);
}

export function encodeData(texts: readonly string[], consumed: readonly number[], wanting: boolean): string {
  const sizes = texts.map((text) => (isReplyText(text) ? 0 : text.length));
  return `{"a":[${consumed.join()}],"s":[${sizes.join()}],"w":${wanting ? 1 : 0},"e":[${texts.join()}]}`;
}

export function encodeControl(frame: ControlFrame): string {
  return JSON.stringify(frame);
}

/** Null for anything that is no frame. */
export function parseFrame(message: unknown): DataFrame | ControlFrame | null {
  if (typeof message !== 'string') return null;
  let frame: unknown;
  try {
    frame = JSON.parse(message);
  } catch {
    return null;
  }
  if (!isObject(frame)) return null;
  return frame.k === undefined ? asDataFrame(frame) : asControlFrame(frame);
}

/** Null for a value that is neither. */
export function asReply(value: unknown): ReplyEnvelope | null {
  if (!isObject(value) || !isObject(value.reply)) return null;
  const { reply } = value;
  const fits =
    typeof value.correlation === 'number' &&
    typeof value.thread === 'string' &&
    typeof value.from === 'string' &&
    (reply.ok === true || (reply.ok === false && isErrorData(reply.error)));
  return fits ? (value as unknown as ReplyEnvelope) : null;
}

export function asEnvelope(value: unknown): Envelope | null {
  if (!isObject(value)) return null;
  const fits =
    typeof value.id === 'number' &&
    typeof value.kind === 'string' &&
    typeof value.from === 'string' &&
    typeof value.to === 'string' &&
    typeof value.thread === 'string' &&
    (value.deadlineAtMs === null || typeof value.deadlineAtMs === 'number') &&
    typeof value.attempt === 'number' &&
    typeof value.question === 'boolean';
  return fits ? (value as unknown as Envelope) : null;
}

function asDataFrame(frame: Record<string, unknown>): DataFrame | null {
  const { a, s, e } = frame;
  if (!isNumbers(a) || !isNumbers(s) || !Array.isArray(e) || s.length !== e.length) return null;
  if (a.length % 2 !== 0) return null;
  return { k: 'data', a, s, e, w: frame.w === 1 };
}

function asControlFrame(frame: Record<string, unknown>): ControlFrame | null {
  switch (frame.k) {
    case 'ready':
    case 'collect':
    case 'collected':
    case 'close':
    case 'closed':
      return { k: frame.k };
    case 'ping':
      return typeof frame.n === 'number' ? { k: 'ping', n: frame.n } : null;
    case 'pong':
      return typeof frame.n === 'number' &&
        typeof frame.delayMs === 'number' &&
        typeof frame.heapBytes === 'number'
        ? { k: 'pong', n: frame.n, delayMs: frame.delayMs, heapBytes: frame.heapBytes }
        : null;
    case 'lost':
      return typeof frame.thread === 'string' && isErrorData(frame.cause)
        ? { k: 'lost', thread: frame.thread, cause: frame.cause }
        : null;
    default:
      return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whole numbers from 0: an endless or broken run of sequence numbers must not get further than here. */
function isNumbers(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((n) => Number.isSafeInteger(n) && n >= 0);
}

function isErrorData(value: unknown): value is ErrorData {
  return (
    isObject(value) &&
    typeof value.code === 'string' &&
    Object.hasOwn(ERROR_CODES, value.code) &&
    typeof value.message === 'string' &&
    (value.cause === undefined || isErrorData(value.cause))
  );
}
