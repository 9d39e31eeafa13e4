/** What a pool is given of a run: its input is put together here, as text. */
import type { ExecuteOrder } from '../../workers/handler.ts';
import type { Run } from './run.ts';

/** The built-in io handler that looks for the files of an `each` task. */
export const SCAN_HANDLER = 'scan';

/** A scan may be held back by a full queue for as long as that takes: a day. */
const SCAN_TIMEOUT_MS = 24 * 3600 * 1000;

export function orderOf(run: Run): ExecuteOrder {
  const { spec } = run.task;
  if (run.scan) {
    return {
      run: run.id,
      task: spec.name,
      attempt: run.attempt,
      handler: SCAN_HANDLER,
      input: spec.scanJson!,
      timeoutMs: SCAN_TIMEOUT_MS,
    };
  }
  return {
    run: run.id,
    task: spec.name,
    attempt: run.attempt,
    handler: spec.handler,
    input: layInput(spec.withJson, run.input),
    timeoutMs: spec.timeoutMs,
  };
}

/**
 * Lays one JSON object over another without parsing either: of a key that comes twice the last one counts
 * (ECMA-262, JSON.parse). A value that is no object replaces the base whole.
 */
export function layInput(base: string, over: string | null): string {
  if (over === null) return base;
  const text = over.trim();
  if (!text.startsWith('{')) return text;
  if (base === '{}') return text;
  const inside = text.slice(1, -1).trim();
  return inside === '' ? base : `${base.slice(0, -1)},${inside}}`;
}
