/** Checks of what reaches the runs from other threads: cheap, by hand, on the fields that are relied on. */
import { isInstant } from '../kernel/parse-time.ts';
import type { RunsMessages } from '../protocol.ts';

export function isOutcomes(body: unknown): body is RunsMessages['outcomes']['body'] {
  return isObject(body) && Array.isArray(body.outcomes) && body.outcomes.every(isOutcome);
}

function isOutcome(body: unknown): boolean {
  if (!isObject(body)) return false;
  return (
    typeof body.run === 'string' &&
    typeof body.attempt === 'number' &&
    typeof body.durationMs === 'number' &&
    (body.result === null || typeof body.result === 'string') &&
    (body.status === 'success' ||
      body.status === 'failed' ||
      body.status === 'cancelled' ||
      body.status === 'interrupted')
  );
}

export function isTrigger(body: unknown): body is RunsMessages['trigger']['body'] {
  if (!isObject(body)) return false;
  return (
    typeof body.task === 'string' &&
    (body.payload === null || typeof body.payload === 'string') &&
    typeof body.force === 'boolean' &&
    typeof body.wait === 'boolean' &&
    (body.dueAtMs === null || isInstant(body.dueAtMs))
  );
}

export function isOffer(body: unknown): body is RunsMessages['offer']['body'] {
  if (!isObject(body)) return false;
  return (
    typeof body.task === 'string' &&
    Array.isArray(body.items) &&
    body.items.every(
      (item) => isObject(item) && typeof item.mark === 'string' && typeof item.input === 'string',
    )
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
