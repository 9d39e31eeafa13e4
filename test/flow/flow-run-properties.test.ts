/** Random flows in a bad world: see `FlowWorld`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { endOfFlow, FlowGraph, FlowRun, isStepOver, type StepState } from '../../src/actors/flow/index.ts';
import { isTerminal } from '../../src/actors/runs/index.ts';
import { anyGraph, graphOf, step } from './fixtures.ts';
import { FlowWorld } from './flow-world.ts';

const anyWorld = fc.record({
  mayStop: fc.boolean(),
  mayCrash: fc.boolean(),
  successes: fc.integer({ min: 1, max: 30 }),
});
const anyChoices = fc.array(fc.nat(2 ** 20), { maxLength: 300, size: 'max' });

/** What its runs, and the policies, say of a step: found again without the code under test. Null: it has no run. */
function expectedState(world: FlowWorld, one: number, states: readonly StepState[]): readonly StepState[] {
  const { each, onUpstreamFailure } = world.graph.steps[one]!;
  const runs = [...world.runs.values()].filter((run) => run.step === one);
  const failed = world.graph.upstreamOf(one).some((up) => states[up] !== 'success');
  if (runs.length === 0) {
    const byPolicy = failed && onUpstreamFailure !== 'run';
    if (byPolicy) return [onUpstreamFailure === 'fail' ? 'failed' : 'skipped', ...stopped(world)];
    return each !== null && world.lists[one] === 0 ? ['success', ...stopped(world)] : stopped(world);
  }
  if (each === null) {
    const { state } = runs[0]!;
    // Its task was removed; the run that was waiting for it is cancelled then, or was not heard of being so.
    if (state === 'orphaned') return ['failed'];
    if (state === 'cancelled') return ['cancelled', 'failed'];
    if (state === 'success' && world.late.includes(one)) return ['cancelled'];
    return [state as StepState];
  }
  const succeeded = runs.filter(({ state }) => state === 'success').length;
  if (succeeded === world.lists[one]) return [world.late.includes(one) ? 'cancelled' : 'success'];
  return ['failed', ...stopped(world)];
}

function stopped({ stopping }: FlowWorld): readonly StepState[] {
  return stopping === null ? [] : ['cancelled'];
}

function expectSettled(world: FlowWorld): void {
  assert.deepEqual(world.live(), [], 'no run of it is left alone');
  const { graph, flow } = world;
  assert.equal(world.ends.length, 1, 'over once');
  assert.deepEqual(world.ends[0], flow.end);
  const steps = [...graph.steps.keys()];
  const states = steps.map((one) => flow.stateOf(one));
  for (const one of steps) {
    assert.ok(isStepOver(states[one]!));
    assert.ok(flow.reasonOf(one) !== null);
    assert.equal(world.stepEnds.get(one), `${states[one]} ${flow.reasonOf(one)}`);
    assert.equal(flow.reasonOf(one) === 'upstream', flow.causeOf(one) !== null);
    const expected = expectedState(world, one, states);
    assert.ok(expected.includes(states[one]!), `${states[one]} (${flow.reasonOf(one)}), not ${expected}`);
  }
  assert.deepEqual(endOfFlow(graph, flow), flow.end);
  assert.equal(
    flow.end?.state === 'success',
    states.every((state) => state === 'success'),
  );
  const late = world.stopping === 'flow-timed-out';
  assert.equal(flow.end?.reason === 'timed-out', late);
  if (late || states.includes('failed')) assert.equal(flow.end?.state, 'failed');
  if (world.stopping === null && flow.end?.state === 'cancelled')
    assert.equal(flow.end.reason, 'step-cancelled');
}

test('F1: failures, skips, cancels, timeouts, removed tasks: every step ends with a reason, and the flow with its steps', () => {
  fc.assert(
    fc.property(anyGraph(), anyChoices, anyWorld, (graph, choices, kind) => {
      const world = new FlowWorld({ ...kind, graph, choices, isFaulty: false });
      world.play();
      expectSettled(world);
    }),
    { numRuns: 150 },
  );
});

test('F2: notifications, starts and cancels lost, doubled and out of order: the flow still ends, nothing starts twice', () => {
  fc.assert(
    fc.property(anyGraph(), anyChoices, anyWorld, (graph, choices, kind) => {
      const world = new FlowWorld({ ...kind, graph, choices, isFaulty: true });
      world.play();
      expectSettled(world);
    }),
    { numRuns: 150 },
  );
});

test('F3: a flow taken up after an end of the daemon at any point goes on where its runs are', () => {
  fc.assert(
    fc.property(anyGraph(20), anyChoices, anyWorld, fc.boolean(), (graph, choices, kind, isFaulty) => {
      // Every other number: the end of the daemon, where it is a turn that asks.
      const often = choices.map((one, index) => (index % 2 === 0 && one % 3 === 0 ? 23 : one));
      const world = new FlowWorld({ ...kind, graph, choices: often, isFaulty, mayCrash: true });
      world.play();
      expectSettled(world);
    }),
    { numRuns: 150 },
  );
});

test('F3: what is taken up stands as it stood: the same states, reasons and causes', () => {
  fc.assert(
    fc.property(anyGraph(20), anyChoices, anyWorld, (graph, choices, kind) => {
      const world = new FlowWorld({ ...kind, graph, choices, isFaulty: false, mayStop: false });
      world.play();
      if ([...world.runs.values()].some(({ state }) => !isTerminal(state))) return;
      const again = new FlowRun(graph);
      for (const { kind } of again.sweep(world)) assert.ok(kind !== 'start' && kind !== 'list');
      for (const one of graph.steps.keys()) {
        if (world.flow.reasonOf(one) === 'task-removed') return;
        assert.equal(again.stateOf(one), world.flow.stateOf(one));
        assert.equal(again.reasonOf(one), world.flow.reasonOf(one));
        assert.equal(again.causeOf(one), world.flow.causeOf(one));
      }
      assert.deepEqual(again.end, world.flow.end);
    }),
    { numRuns: 150 },
  );
});

test('the cost of a flow is its steps and edges, whatever the order, the depth, and how often it is told', () => {
  fc.assert(
    fc.property(anyGraph(), anyChoices, (graph, choices) => {
      const count = { looks: 0 };
      const counted = countingGraph(graph, count);
      const flow = new FlowRun(counted);
      const edges = graph.down.length;
      flow.begin();
      for (const one of Array.from(graph.order)) {
        const { each } = graph.steps[one]!;
        if (each !== null) flow.apply({ kind: 'listed', step: one, items: 0 });
        for (let twice = 0; twice < 3; twice++) {
          if (choices[one] === undefined || choices[one]! % 3 > 0) {
            flow.apply({ kind: 'succeeded', step: one, item: null, result: null });
          } else flow.apply({ kind: 'failed', step: one, item: null, reason: 'run-failed', detail: null });
        }
      }
      assert.ok(flow.end !== null);
      assert.ok(count.looks <= 3 * edges, `${count.looks} looks at ${edges} edges`);
    }),
    { numRuns: 100 },
  );
});

test('an event costs the edges behind its step, and no more', () => {
  const wide = Array.from({ length: 100 }, (_, index) => step(`w${index}`, ['first']));
  const count = { looks: 0 };
  const flow = new FlowRun(countingGraph(graphOf(step('first'), ...wide, step('last', ['w1', 'w2'])), count));
  flow.begin();
  const cost = (one: number): number => {
    const before = count.looks;
    flow.apply({ kind: 'succeeded', step: one, item: null, result: null });
    return count.looks - before;
  };
  assert.equal(cost(0), 200);
  assert.equal(cost(1), 0);
  assert.equal(cost(2), 1);
  assert.equal(cost(3), 3);
});

/** The same graph, its edges counted as they are looked at. */
function countingGraph(graph: FlowGraph, count: { looks: number }): FlowGraph {
  const counting = (list: ArrayLike<number>): ArrayLike<number> =>
    new Proxy(Array.from(list), {
      get(target, key) {
        if (typeof key === 'string' && /^\d+$/.test(key)) count.looks++;
        return Reflect.get(target, key) as unknown;
      },
    });
  const { steps, order, level, up, upFrom, down, downFrom } = graph;
  return new FlowGraph({ steps, order, level, upFrom, downFrom, up: counting(up), down: counting(down) });
}
