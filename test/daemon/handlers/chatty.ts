/** Logs lines of a length that is asked for. */
import type { HandlerContext } from '../../../src/workers/handler.ts';

export default function chatty(input: { lines: number; length: number }, context: HandlerContext): number {
  for (let i = 0; i < input.lines; i++) context.log.info('x'.repeat(input.length));
  return input.lines;
}
