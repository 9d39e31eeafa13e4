/**
 * Flows under a daemon that is killed: a chain, and graphs at random with lists, failures and policies. What must hold of
 * their runs, whatever was killed in between. Pure.
 *
 *   order     no attempt of a step begins before all that is before it is over
 *   cause     a step runs after a failure only where it is to
 *   end       every step of a run that is over has ended, with a reason that nothing was lost by
 */
import type { FlowDocument } from '../../src/actors/control/flow-routes.ts';
import type { EffectInput } from './handlers/effect.ts';
import { type LedgerLine, LedgerMark } from './ledger.ts';
import type { Random } from './random.ts';
import { TERMINAL, type Violation } from './violations.ts';

export interface GraphStep {
  readonly task: string;
  readonly dependsOn: readonly string[];
  readonly policy: 'skip' | 'run' | 'fail';
  readonly each: {
    readonly list: string;
    readonly concurrency: number;
    readonly onFailure: 'stop' | 'continue';
  } | null;
  readonly effect: Omit<EffectInput, 'ledger'>;
}

export interface Graph {
  readonly flow: string;
  readonly steps: readonly GraphStep[];
}

const LINKS: readonly string[] = ['link-one', 'link-two', 'link-three'];

/** Each step waits for the one before, and succeeds in the end. */
export const CHAIN: Graph = {
  flow: 'chain',
  steps: LINKS.map((task, index) => ({
    task,
    dependsOn: LINKS.slice(Math.max(0, index - 1), index),
    policy: 'skip',
    each: null,
    effect: { ms: 10, failures: index % 2 },
  })),
};

const MOST_BEFORE = 3;
const MOST_ROWS = 4;
const POLICIES = ['skip', 'skip', 'run', 'fail'] as const;
/** More than fail for a while do, and few for those that always do. */
const MAX_RETRY = 2;
/** One run in so many of such a step fails for good. */
const MISFORTUNE = 5;

/** Of a hundred runs of such flows: cancelled while they run. */
export const CANCELLED = 15;

export function randomGraphs(random: Random, { count, most }: { count: number; most: number }): Graph[] {
  return Array.from({ length: count }, (_, index) => randomGraph(random, `graph-${index}`, most));
}

function randomGraph(random: Random, flow: string, most: number): Graph {
  const steps: GraphStep[] = [];
  for (let index = random.between(3, most); index > 0; index--) {
    const wanted = Array.from({ length: random.between(0, MOST_BEFORE) }, () => random.pick(steps));
    const before = [...new Set(steps.length === 0 ? [] : wanted)];
    const giver = before.find(({ each }) => each === null);
    steps.push({
      task: `${flow}-${steps.length}`,
      dependsOn: before.map(({ task }) => task),
      policy: random.pick(POLICIES),
      each:
        giver === undefined || random.chance(0.5)
          ? null
          : {
              list: giver.task,
              concurrency: random.between(1, 3),
              onFailure: random.pick(['stop', 'continue']),
            },
      effect: {
        ms: random.between(1, 15),
        failures: random.between(0, 1),
        rows: random.between(0, MOST_ROWS),
        ...(random.chance(0.4) ? { misfortune: MISFORTUNE } : {}),
      },
    });
  }
  return { flow, steps };
}

/** As the config has it. */
export function flowConfig({ flow, steps }: Graph): object {
  const written = steps.map(({ task, dependsOn, policy, each }) => {
    const [before] = dependsOn;
    const base = { task, depends_on: dependsOn, on_upstream_failure: policy, max_retry: MAX_RETRY };
    if (each !== null) {
      const list = `{{ steps.${each.list}.result }}`;
      const { concurrency, onFailure } = each;
      return {
        ...base,
        each: { list, concurrency, on_item_failure: onFailure },
        with: { item: '{{ item }}' },
      };
    }
    const single = steps.find((one) => one.task === before)?.each === null;
    return single ? { ...base, with: { after: `{{ steps.${before}.result }}` } } : base;
  });
  return { name: flow, overlap: 'allow', steps: written };
}

interface Place {
  readonly flowRun: string;
  readonly step: string;
}

/** Of a run of a step, or of one of its items. */
function placeOf(run: string): Place | null {
  const at = run.indexOf('/');
  if (at < 0) return null;
  return { flowRun: run.slice(0, at), step: run.slice(at + 1).replace(/\[\d+\]$/, '') };
}

/** `lines`: in the order they were written. */
export function orderViolations(graphs: readonly Graph[], lines: Iterable<LedgerLine>): Violation[] {
  const found: Violation[] = [];
  const steps = new Map(graphs.flatMap((graph) => graph.steps.map((step) => [step.task, step] as const)));
  const before = new Map([...steps.keys()].map((name) => [name, ancestorsOf(name, steps)]));
  const done = new Set<string>();
  /** Steps that others have begun after, `FLOW RUN/STEP` → the first of them. */
  const closed = new Map<string, string>();
  for (const { run, mark } of lines) {
    const place = placeOf(run);
    const step = place === null ? undefined : steps.get(place.step);
    if (place === null || step === undefined) continue;
    const at = (name: string) => `${place.flowRun}/${name}`;
    if (mark === LedgerMark.End) done.add(run);
    const follower = closed.get(at(step.task));
    // One that gives in to its signal may say so late.
    if (follower !== undefined && mark !== LedgerMark.Cut) {
      found.push({ rule: 'step-too-soon', text: `${follower} began, and then ${run}: ${mark}` });
    }
    if (mark !== LedgerMark.Begin) continue;
    for (const name of before.get(step.task)!) if (!closed.has(at(name))) closed.set(at(name), run);
    if (step.policy === 'run') continue;
    for (const name of step.dependsOn) {
      if (steps.get(name)!.each !== null || done.has(at(name))) continue;
      found.push({ rule: 'step-too-soon', text: `${run} began, ${at(name)} was not done` });
    }
  }
  return found;
}

/** Of a run that is over. */
export function stepViolations(
  { steps: written }: Graph,
  { run, state: flowState, steps }: Pick<FlowDocument, 'run' | 'state' | 'steps'>,
): Violation[] {
  // Cancelled before it began.
  if (flowState === 'cancelled' && steps?.every(({ reason }) => reason === null)) return [];
  const found: Violation[] = [];
  const say = (text: string) => found.push({ rule: 'step-end', text: `${run}: ${text}` });
  const stateOf = new Map((steps ?? []).map(({ step, state }) => [step, state]));
  if (stateOf.size !== written.length) say(`expected ${written.length} steps, got ${stateOf.size}`);
  for (const { step, state, reason } of steps ?? []) {
    const told = `${step} is ${state}, ${reason}`;
    if (!TERMINAL.has(state) || reason === null) say(told);
    else if (reason === 'run-lost' || reason === 'task-removed' || reason === 'run-cancelled') say(told);
    // The whole flow was: nothing else is to be said of it.
    if (reason === 'flow-cancelled' && state === 'cancelled') continue;
    const spec = written.find(({ task }) => task === step);
    const lacks = spec?.dependsOn.some((name) => stateOf.get(name) !== 'success') === true;
    const stays = lacks && spec?.policy !== 'run';
    if (stays !== (reason === 'upstream')) say(`${told}, where ${lacks ? 'one' : 'none'} before it failed`);
    else if (stays && state !== (spec?.policy === 'fail' ? 'failed' : 'skipped')) say(told);
  }
  return found;
}

function ancestorsOf(name: string, steps: ReadonlyMap<string, GraphStep>): ReadonlySet<string> {
  const found = new Set(steps.get(name)!.dependsOn);
  for (const one of found) for (const further of steps.get(one)!.dependsOn) found.add(further);
  return found;
}
