/**
 * Looks from this thread at what another one does, also where its event loop is blocked and it answers no message.
 *
 * The runtime's inspector evaluates an expression on that thread between two steps of whatever JavaScript runs there, so
 * the stack of that expression is the stack of what blocks it, and its async context is that of whose code it is. Inside
 * a native call nothing is evaluated, and no answer is the answer. Nothing is loaded before the first look.
 */
import type { Worker } from 'node:worker_threads';
import { systemClock } from './clock.ts';
import { cutText } from './errors.ts';

export interface ThreadSight {
  /** Calls, innermost first, one a line; empty: nothing ran; null: no answer, as from inside a native call. */
  readonly stack: string | null;
  /** For whom the code runs, where the thread tells it (`tellOwner`). */
  readonly owner: string | null;
}

/** JavaScript answers within milliseconds where it gets a core. */
const LOOK_MS = 500;
const FRAMES = 24;
/** Of the expression: the function, and the call of it. */
const OWN_FRAMES = 2;
const STACK_LIMIT = 2048;

const OWNER = 'colibri.owner';

/** On the thread that is to be looked at: says for whom the code that runs does. Gives what takes it back. */
export function tellOwner(owner: () => string | undefined): () => void {
  const key = Symbol.for(OWNER);
  Reflect.set(globalThis, key, owner);
  return () => void Reflect.deleteProperty(globalThis, key);
}

/** Users' code runs there, so everything it may have changed is put right for a moment, and put back. */
const EXPRESSION = `(function () {
  const { stackTraceLimit, prepareStackTrace } = Error;
  try {
    Error.stackTraceLimit = ${FRAMES + OWN_FRAMES};
    Error.prepareStackTrace = undefined;
    return [String(new Error().stack), globalThis[Symbol.for('${OWNER}')]?.() ?? null];
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    Error.prepareStackTrace = prepareStackTrace;
  }
})()`;

/** Null where it cannot be looked at: the thread has ended, or this runtime has no inspector. Never rejects. */
export async function lookAtThread(thread: Worker): Promise<ThreadSight | null> {
  const answered = Promise.withResolvers<string | null>();
  let session: InstanceType<typeof import('node:inspector')['Session']> | null = null;
  const timer = systemClock.setTimer(LOOK_MS, () => answered.resolve(null));
  try {
    session = new (process.getBuiltinModule('node:inspector').Session)();
    const sessionId = attach(session, thread, answered.resolve);
    if (sessionId === null) return null;
    const message = JSON.stringify({
      id: 1,
      method: 'Runtime.evaluate',
      params: { expression: EXPRESSION, returnByValue: true, silent: true },
    });
    session.post('NodeWorker.sendMessageToWorker', { sessionId, message });
    return parseAnswer(await answered.promise);
  } catch {
    return null;
  } finally {
    timer.cancel();
    session?.disconnect();
  }
}

/** Where a thread that is blocked stands, as the end of a sentence about it. */
export function placeText(sight: ThreadSight | null): string {
  if (sight === null || sight.stack === '') return '';
  if (sight.stack === null) return ', as it seems inside a native call';
  const frames = sight.stack.split('\n');
  // What the runtime itself provides, such as `Array.sort`, has no line.
  return `, ${frames.find((frame) => /:\d+:\d+\)?$/.test(frame)) ?? frames[0]}`;
}

/** Id of the inspector's way to that thread. It attaches to all threads that this one has started, in the same turn. */
function attach(
  session: InstanceType<typeof import('node:inspector')['Session']>,
  thread: Worker,
  onMessage: (text: string) => void,
): string | null {
  let found: string | null = null;
  session.connect();
  session.on('NodeWorker.attachedToWorker', ({ params }) => {
    // The title is all by which it can be told; `workerId` is the inspector's own count.
    if (params.workerInfo.title.startsWith(`[worker ${thread.threadId}] `)) found = params.sessionId;
  });
  session.on('NodeWorker.receivedMessageFromWorker', ({ params }) => {
    if (params.sessionId === found) onMessage(params.message);
  });
  session.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
  return found;
}

function parseAnswer(text: string | null): ThreadSight | null {
  if (text === null) return { stack: null, owner: null };
  const value: unknown = (JSON.parse(text) as { result?: { result?: { value?: unknown } } }).result?.result
    ?.value;
  if (!Array.isArray(value)) return null;
  const [stack, owner] = value as unknown[];
  return {
    stack: typeof stack === 'string' ? framesOf(stack) : '',
    owner: typeof owner === 'string' ? owner : null,
  };
}

/** Without the error's own line and the frames of the expression. */
function framesOf(stack: string): string {
  const lines = stack.split('\n').map((line) => line.trim());
  return cutText(lines.slice(1 + OWN_FRAMES).join('\n'), STACK_LIMIT);
}
