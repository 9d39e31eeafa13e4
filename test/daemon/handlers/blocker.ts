/** Blocks its thread for so long that somebody has to do something about it; in its second attempt it does not. */
import { closeSync, openSync } from 'node:fs';
import type { HandlerContext } from '../../../src/workers/handler.ts';

const LOOP_SECONDS = 20;

/**
 * `late`: after an `await`, where the event loop and no longer the caller is what stands above it. `pipe`: a fifo, which
 * is opened in the native call: it takes until somebody opens the other end.
 */
export default async function blocker(
  input: { readonly how: 'loop' | 'native' | 'waits'; readonly late?: boolean; readonly pipe?: string },
  context: HandlerContext,
): Promise<unknown> {
  if (context.attempt > 1) return 'not again';
  if (input.late === true) await new Promise((resolve) => setTimeout(resolve, 1));
  switch (input.how) {
    case 'loop':
      return blockInLoop();
    case 'native':
      return blockInNativeCall(input.pipe!);
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

function blockInNativeCall(pipe: string): void {
  closeSync(openSync(pipe, 'r'));
}
