/** What a pool is given of a run: its input is put together here, as text. */
import type { ExecuteOrder } from '../execution.ts';
import type { Run } from './run.ts';

/** The built-in io handler that looks for the files of an `each` task. */
export const SCAN_HANDLER = 'scan';

/** A scan may be held back by a full queue for as long as that takes: a day. */
const SCAN_TIMEOUT_MS = 24 * 3600 * 1000;

/** `waits`: it does not begin before the journal has its beginning. */
export function orderOf(run: Run, waits: boolean): ExecuteOrder {
  const { spec } = run.task;
  return {
    run: run.id,
    task: spec.name,
    attempt: run.attempt,
    handler: run.scan ? SCAN_HANDLER : spec.handler,
    input: run.effectiveInput,
    timeoutMs: run.scan ? SCAN_TIMEOUT_MS : run.effectiveLimits.timeoutMs,
    ...(waits && run.noted ? { after: run.ordinal } : {}),
  };
}
