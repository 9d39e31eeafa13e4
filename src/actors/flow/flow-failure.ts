/** What is told of the end of a flow: its error, and what the task of `on_failure` is given. */
import type { ErrorData } from '../kernel/errors.ts';
import type { FlowEnd } from './flow-events.ts';
import type { LiveFlow } from './live-flow.ts';
import { NO_RESULTS } from './step-results.ts';
import { valuesOf } from './step-starts.ts';
import type { FailureField } from './template-text.ts';
import { fillTemplate, type Template } from './templates.ts';

export type FlowFailure = Readonly<Record<FailureField, string | null>>;

/** An alarm is wanted just where something is not as it should be: what it lacks, and what is too large, is left out. */
export function failureInput(live: LiveFlow, template: Template, failure: FlowFailure): string {
  const given = valuesOf(live, NO_RESULTS);
  const values = { ...given, isLenient: true, flow: { ...given.flow, ...failure } };
  try {
    return fillTemplate(template, values);
  } catch {
    return fillTemplate(template, { ...values, payload: undefined });
  }
}

/** `cause`: the error of the step that decided it; null: its run has none. */
export function errorOfEnd(
  { state, reason }: FlowEnd,
  why: string,
  cause: ErrorData | null,
): ErrorData | null {
  if (state === 'success') return null;
  if (state === 'cancelled')
    return { code: 'cancelled', message: why === '' ? 'the flow was cancelled' : why };
  if (reason === 'timed-out') return { code: 'timeout', message: why };
  return { code: 'flow-failed', message: why, ...(cause === null ? {} : { cause }) };
}
