import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type EarlierStep,
  type FlowGraph,
  FlowRun,
  type StepState,
  stepsTakenOver,
} from '../../src/actors/flow/index.ts';
import type { RerunChoice } from '../../src/actors/protocol.ts';
import { anyGraph, graphOf, step } from './fixtures.ts';
import { FlowWorld } from './flow-world.ts';

const graph = graphOf(step('a'), step('b', ['a']), step('c', ['b']), step('d', ['a']));

function earlierOf(of: FlowGraph, states: readonly StepState[]): ReadonlyMap<string, EarlierStep> {
  return new Map(
    of.steps.map(({ task }, index) => [task, { state: states[index]!, result: `earlier ${task}` }]),
  );
}

function takenOver(states: readonly StepState[], choice: RerunChoice): string[] {
  return [...stepsTakenOver(graph, earlierOf(graph, states), choice).keys()]
    .map((one) => graph.nameOf(one))
    .sort();
}

test('what is taken over: nothing, what is not behind a failure, what is not behind the chosen step either', () => {
  const mixed = ['success', 'failed', 'skipped', 'success'] as const;
  assert.deepEqual(takenOver(mixed, { kind: 'whole' }), []);
  assert.deepEqual(takenOver(mixed, { kind: 'failed' }), ['a', 'd']);
  assert.deepEqual(takenOver(mixed, { kind: 'step', step: 'd' }), ['a']);
  const good = ['success', 'success', 'success', 'success'] as const;
  assert.deepEqual(takenOver(good, { kind: 'step', step: 'b' }), ['a', 'd']);
  assert.deepEqual(takenOver(good, { kind: 'step', step: 'a' }), []);
});

test('nothing failed, or no such step: the error says what to do', () => {
  const good = ['success', 'success', 'success', 'success'] as const;
  assert.throws(() => takenOver(good, { kind: 'failed' }), {
    code: 'rerun-refused',
    message: /expected a step that did not succeed, got none; run/,
  });
  assert.throws(() => takenOver(good, { kind: 'step', step: 'zzzz' }), {
    code: 'usage',
    message: /expected a step of the flow, got "zzzz"; its steps are a, b, c, d$/,
  });
});

test('a step that the flow did not have then runs, and so does what is behind it', () => {
  const earlier = earlierOf(graphOf(step('a'), step('c', ['a'])), ['success', 'success']);
  const names = [...stepsTakenOver(graph, earlier, { kind: 'failed' })];
  assert.deepEqual(names, [[0, 'earlier a']]);
});

test('F3: a new run takes over results, starts the other steps alone, and ends; also when it is taken up after a crash', () => {
  const choices = fc.array(fc.nat(2 ** 20), { maxLength: 200, size: 'max' });
  const kind = { mayStop: false, isFaulty: false } as const;
  fc.assert(
    fc.property(anyGraph(20), choices, choices, fc.option(fc.nat()), (any, first, second, from) => {
      const before = new FlowWorld({ ...kind, graph: any, choices: first, mayCrash: false, successes: 8 });
      before.play();
      const { flow } = before;
      const states = [...any.steps.keys()].map((one) => flow.stateOf(one));
      if (from === null && flow.end?.state === 'success') return;
      const choice =
        from === null
          ? ({ kind: 'failed' } as const)
          : ({ kind: 'step', step: any.nameOf(from % any.size) } as const);
      const taken = stepsTakenOver(any, earlierOf(any, states), choice);
      const again = new FlowWorld({
        ...kind,
        graph: any,
        choices: second,
        mayCrash: true,
        successes: 20,
        takenOver: taken,
      });
      again.play();
      for (const one of any.steps.keys()) {
        const started = [...again.runs.values()].some((run) => run.step === one);
        if (taken.has(one)) {
          assert.equal(states[one], 'success');
          assert.ok(!started);
          assert.equal(again.flow.reasonOf(one), 'taken-over');
          assert.equal(again.flow.resultOf(one), `earlier ${any.nameOf(one)}`);
          for (const up of any.ancestorsOf(one)) assert.ok(taken.has(up));
        } else if (states[one] === 'success') {
          const cause = (up: number) =>
            states[up] !== 'success' || any.nameOf(up) === (choice.kind === 'step' ? choice.step : '');
          assert.ok(cause(one) || [...any.ancestorsOf(one)].some(cause), 'run again without cause');
        }
      }
    }),
    { numRuns: 150 },
  );
});

test('a flow run that takes everything over is over when it begins', () => {
  const all = new Map(graph.steps.map(({ task }, index) => [index, task]));
  const [effect] = new FlowRun(graph, { takenOver: all }).begin();
  assert.deepEqual(effect, { kind: 'over', end: { state: 'success', reason: 'done', step: null } });
});
