/** Fails now and then, as a service at the other end of a line does: shows retries. */
import type { HandlerContext } from '../../src/main/index.ts';

export default async function flaky(
  input: { readonly fail_ratio?: number },
  context: HandlerContext,
): Promise<{ answered_at_attempt: number }> {
  if (Math.random() < (input.fail_ratio ?? 0.5)) throw new Error('the other end did not answer');
  return { answered_at_attempt: context.attempt };
}
