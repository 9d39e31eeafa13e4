/** Blocks its thread for so long that somebody has to do something about it; in its second attempt it does not. */
import { execFileSync } from 'node:child_process';
import type { HandlerContext } from '../../../src/workers/handler.ts';

/** A loop is ended by force; nothing ends a native call, and the process waits for it. */
const LOOP_SECONDS = 20;
const NATIVE_SECONDS = 10;

/** `late`: after an `await`, where the event loop and no longer the caller is what stands above it. */
export default async function blocker(
  input: { readonly how: 'loop' | 'native' | 'waits'; readonly late?: boolean },
  context: HandlerContext,
): Promise<unknown> {
  if (context.attempt > 1) return 'not again';
  if (input.late === true) await new Promise((resolve) => setTimeout(resolve, 1));
  switch (input.how) {
    case 'loop':
      return blockInLoop();
    case 'native':
      return blockInNativeCall();
    case 'waits':
      return new Promise(() => {});
  }
}

/** JavaScript that never ends, as `while (true) {}` is, and leaves the core to other tests. */
function blockInLoop(): void {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const endMono = performance.now() + LOOP_SECONDS * 1000;
  while (performance.now() < endMono) Atomics.wait(cell, 0, 0, 20);
}

function blockInNativeCall(): void {
  execFileSync('sleep', [String(NATIVE_SECONDS)]);
}
