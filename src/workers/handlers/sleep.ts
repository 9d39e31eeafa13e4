/** `sleep`: waits, and stops waiting at once when it is told to stop. Its timer never outlives the run. */
import { ColibriError } from '../../actors/kernel/errors.ts';
import type { BuiltInHandler, HandlerContext } from '../handler.ts';

/** Longest delay `setTimeout` takes; above it, it fires at once. */
const TIMER_LIMIT_MS = 2 ** 31 - 1;

export const sleep: BuiltInHandler = {
  name: 'sleep',
  kind: 'io',
  kinds: ['io', 'cpu'],
  summary: 'Waits for a number of milliseconds.',
  inputSchema: {
    type: 'object',
    properties: { ms: { type: 'number', minimum: 0, description: 'How long to wait, in milliseconds.' } },
    required: ['ms'],
    additionalProperties: false,
  },
  perFile: false,
  pathKeys: [],
  handle: waitFor,
};

interface SleepInput {
  readonly ms: number;
}

function waitFor(input: SleepInput, context: HandlerContext): Promise<{ slept_ms: number }> {
  const ms: unknown = input?.ms;
  if (typeof ms !== 'number' || !(ms >= 0)) {
    throw new ColibriError('input-invalid', `expected ms to be a number of at least 0, got ${typeof ms}`);
  }
  return new Promise((resolve, reject) => {
    const { signal } = context;
    let leftMs = ms;
    let timer: NodeJS.Timeout | undefined;
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const wait = () => {
      const stepMs = Math.min(leftMs, TIMER_LIMIT_MS);
      leftMs -= stepMs;
      timer = setTimeout(() => {
        if (leftMs > 0) return wait();
        signal.removeEventListener('abort', onAbort);
        resolve({ slept_ms: ms });
      }, stepMs);
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    wait();
  });
}
