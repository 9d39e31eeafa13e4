/** How the run of a flow is shown. */
import { ColibriError } from '../kernel/errors.ts';
import { isTerminal } from '../runs/run-states.ts';
import type { FlowView, RunView } from '../views/run-view.ts';
import type { CompiledFlow } from './compile-flow.ts';
import { parseNote, viewOfGraph, viewOfNoted } from './flow-note.ts';
import type { LiveFlow } from './live-flow.ts';

export interface ShownFrom {
  readonly onFailure: RunView | null;
  readonly live: LiveFlow | undefined;
  readonly flows: ReadonlyMap<string, CompiledFlow>;
}

/** Throws `no-such-run`. */
export function shown(id: string, run: RunView | null, { onFailure, live, flows }: ShownFrom): FlowView {
  if (run === null) throw unknownRun(id);
  const note = parseNote(run.note);
  const head = { run, onFailure, againOf: note.again ?? null };
  const flow = flows.get(run.task);
  if (live !== undefined && live.run !== null) return { ...head, end: null, steps: live.stepViews() };
  if (note.steps !== undefined)
    return { ...head, end: note.end ?? null, steps: note.steps.map((step) => viewOfNoted(step, note)) };
  if (flow === undefined) throw notAFlow(run);
  return { ...head, end: isTerminal(run.state) ? run.state : null, steps: viewOfGraph(flow.graph) };
}

export function unknownRun(id: string): ColibriError {
  return new ColibriError('no-such-run', `expected the id of a run of a flow, got ${JSON.stringify(id)}`);
}

export function notAFlow({ run, task }: RunView): ColibriError {
  return new ColibriError(
    'no-such-run',
    `expected the run of a flow in the config, got ${JSON.stringify(run)}, which is one of ${task}`,
  );
}
