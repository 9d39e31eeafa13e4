/**
 * What an async pool requires of each message that crossed a thread. Written by hand: the check of `execute`
 * is on the way of every run.
 */

import { AbortReason } from '../../actors/execution.ts';
import type { IoMessages } from '../../actors/protocol.ts';

const REASONS: ReadonlySet<unknown> = new Set(Object.values(AbortReason));

export const ioChecks: { readonly [K in keyof IoMessages]: (body: unknown) => boolean } = {
  execute: isExecute,
  abort: isStop,
  kill: isStop,
};

function isExecute(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false;
  const { orders } = body as { readonly orders?: unknown };
  return Array.isArray(orders) && orders.every(isOrder);
}

function isOrder(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false;
  const order = body as Readonly<Record<string, unknown>>;
  return (
    typeof order.run === 'string' &&
    typeof order.task === 'string' &&
    typeof order.attempt === 'number' &&
    typeof order.handler === 'string' &&
    typeof order.input === 'string' &&
    typeof order.timeoutMs === 'number' &&
    (order.after === undefined || typeof order.after === 'number')
  );
}

function isStop(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false;
  const stop = body as Readonly<Record<string, unknown>>;
  return typeof stop.run === 'string' && REASONS.has(stop.reason);
}
