/** How the run of a flow is shown, and what one again begins with. */
import { ColibriError } from '../kernel/errors.ts';
import type { RerunChoice } from '../protocol.ts';
import type { StepRuns, TakenOver } from '../runs/index.ts';
import { isTerminal } from '../runs/run-states.ts';
import type { FlowView, RunView } from '../views/run-view.ts';
import type { CompiledFlow } from './compile-flow.ts';
import { noteText, parseNote, viewOfGraph, viewOfNoted } from './flow-note.ts';
import { type FlowStore, keptOf } from './flow-store.ts';
import { type LiveFlow, stepRunId } from './live-flow.ts';
import { type EarlierStep, stepsTakenOver } from './rerun.ts';
import type { StepState } from './step-states.ts';

export interface ShownFrom {
  readonly live: LiveFlow | undefined;
  readonly flows: ReadonlyMap<string, CompiledFlow>;
}

/** Throws `no-such-run`. */
export function shown(id: string, run: RunView | null, { live, flows }: ShownFrom): FlowView {
  if (run === null) throw unknown(id);
  const note = parseNote(run.note);
  const flow = flows.get(run.task);
  if (live !== undefined && live.run !== null) return { run, end: null, steps: live.stepViews() };
  if (note.steps !== undefined) return { run, end: note.end ?? null, steps: note.steps.map(viewOfNoted) };
  if (flow === undefined) throw notAFlow(run);
  return { run, end: isTerminal(run.state) ? run.state : null, steps: viewOfGraph(flow.graph) };
}

export interface AgainFrom {
  readonly flows: ReadonlyMap<string, CompiledFlow>;
  readonly store: FlowStore;
  readonly steps: StepRuns;
}

export interface Again {
  readonly task: string;
  readonly payload: string | null;
  /** The instant that it stands for. */
  readonly dueAtMs: number;
  readonly takenOver: TakenOver;
}

/** Rejects with `no-such-run`, `usage`. */
export async function again(
  { run: id, choice }: { readonly run: string; readonly choice: RerunChoice },
  run: RunView | null,
  { flows, store, steps }: AgainFrom,
): Promise<Again> {
  if (run === null) throw unknown(id);
  const flow = flows.get(run.task);
  if (flow === undefined) throw notAFlow(run);
  if (!isTerminal(run.state)) {
    throw new ColibriError(
      'usage',
      `expected a run that is over, got ${id}, which is ${run.state}; cancel it first`,
    );
  }
  const note = parseNote(run.note);
  const earlier = new Map<string, EarlierStep>();
  for (const { step, state } of note.steps ?? []) {
    const result = note.took?.[step] ?? stepRunId(id, step);
    earlier.set(step, { state: state as StepState, result });
  }
  const { graph } = flow;
  // What is behind it can be made of a result only that is still there.
  const single = [...stepsTakenOver(graph, earlier, choice)].filter(
    ([step]) => graph.steps[step]!.each === null,
  );
  const kept = await keptOf(
    single.map(([, result]) => result),
    store,
    steps,
  );
  for (const [step, result] of single) if (!kept.has(result)) earlier.delete(graph.nameOf(step));
  const takenOver = [...stepsTakenOver(graph, earlier, choice)];
  const took = Object.fromEntries(takenOver.map(([step, result]) => [graph.nameOf(step), result]));
  return {
    task: run.task,
    payload: run.input === '{}' ? null : run.input,
    dueAtMs: run.dueAtMs ?? run.createdAtMs,
    takenOver: {
      note: noteText({ again: id, ...(takenOver.length === 0 ? {} : { took }) }),
      adopts: takenOver.map(([, result]) => result),
    },
  };
}

function unknown(id: string): ColibriError {
  return new ColibriError('no-such-run', `expected the id of a run of a flow, got ${JSON.stringify(id)}`);
}

function notAFlow({ run, task }: RunView): ColibriError {
  return new ColibriError(
    'usage',
    `expected the run of a flow in the config, got ${JSON.stringify(run)}, which is one of ${task}`,
  );
}
