/** Flows for tests: from a few words, and at random. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  checkFlow,
  type EachItem,
  type FlowGraph,
  ItemFailurePolicy,
  type StepSpec,
  UpstreamFailurePolicy,
} from '../../src/actors/flow/index.ts';

export function step(
  task: string,
  dependsOn: readonly string[] = [],
  more: Partial<StepSpec> = {},
): StepSpec {
  return { task, dependsOn, onUpstreamFailure: 'skip', each: null, ...more };
}

export function tasksOf(steps: readonly (StepSpec | undefined)[]): ReadonlySet<string> {
  return new Set(steps.flatMap((one) => (one === undefined ? [] : [one.task])));
}

export function graphOf(...steps: readonly StepSpec[]): FlowGraph {
  const { graph, problems } = checkFlow(steps, tasksOf(steps));
  assert.deepEqual(problems, []);
  return graph!;
}

const anyEach: fc.Arbitrary<EachItem> = fc.record({
  concurrency: fc.integer({ min: 1, max: 4 }),
  onFailure: fc.constantFrom(...Object.values(ItemFailurePolicy)),
});

const anyPolicy = fc.constantFrom(...Object.values(UpstreamFailurePolicy));

/** Steps without a cycle, at most `most`, written in any order; some with a list. */
export function anySteps(most = 40): fc.Arbitrary<readonly StepSpec[]> {
  const node = fc.record({
    ups: fc.array(fc.nat(most), { maxLength: 4 }),
    onUpstreamFailure: anyPolicy,
    each: fc.option(anyEach, { freq: 4 }),
  });
  return fc.array(node, { minLength: 1, maxLength: most, size: 'max' }).chain((nodes) => {
    const steps = nodes.map(({ ups, ...policies }, index) => {
      const before = index === 0 ? [] : [...new Set(ups.map((up) => up % index))];
      return { task: `s${index}`, dependsOn: before.map((up) => `s${up}`), ...policies };
    });
    return fc.shuffledSubarray(steps, { minLength: steps.length });
  });
}

export const anyGraph = (most = 40): fc.Arbitrary<FlowGraph> =>
  anySteps(most).map((steps) => graphOf(...steps));
