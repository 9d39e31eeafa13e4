/**
 * The delay before the nth retry, in the two forms of the literature. Pure arithmetic.
 *
 * - `scaled`: min(cap, base × 2^(n−1)) × (0.5 + rand), the half-to-one-and-a-half jitter of Celery and Sidekiq
 *   kin. The cap comes before the jitter: after it, all late retries would fall on the same instant.
 * - `additive`: min(cap, base × 2^(n−1)) + uniform(0, jitter), truncated binary exponential backoff with
 *   additive jitter, as the client guidelines of the large cloud APIs describe it.
 *
 * n is 1 for the first retry. The exponent is clamped, so the result is finite for every n.
 */
export type BackoffPolicy =
  | { readonly kind: 'scaled'; readonly baseMs: number; readonly capMs: number }
  | { readonly kind: 'additive'; readonly baseMs: number; readonly capMs: number; readonly jitterMs: number };

/** 2^30 × 1 ms is 12 days: past every sensible cap, and far from overflow. */
const MAX_EXPONENT = 30;

/** Milliseconds to wait before retry `n` (1, 2, …). `random` gives values in [0, 1). Never negative, always finite. */
export function backoffMs(policy: BackoffPolicy, n: number, random: () => number): number {
  const exponent = Math.min(Math.max(Math.trunc(n) - 1, 0), MAX_EXPONENT);
  const grown = Math.min(policy.capMs, policy.baseMs * 2 ** exponent);
  return policy.kind === 'scaled' ? grown * (0.5 + random()) : grown + random() * policy.jitterMs;
}
