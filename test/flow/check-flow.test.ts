import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  checkFlow,
  type FlowProblem,
  MAX_FLOW_DEPTH,
  MAX_FLOW_STEPS,
  type StepSpec,
} from '../../src/actors/flow/index.ts';
import { anyGraph, anySteps, graphOf, step, tasksOf } from './fixtures.ts';

function problemsOf(
  steps: readonly (StepSpec | undefined)[],
  tasks = tasksOf(steps),
): readonly FlowProblem[] {
  const { graph, problems } = checkFlow(steps, tasks);
  assert.equal(graph === null, problems.length > 0);
  return problems;
}

function textsOf(problems: readonly FlowProblem[]): string[] {
  return problems.map(({ path, message }) => `${path.join('.')}: ${message}`);
}

test('F4: a cycle is refused at the dependency that closes it, named by its path', () => {
  assert.deepEqual(textsOf(problemsOf([step('x'), step('a', ['x', 'b']), step('b', ['a'])])), [
    '1.depends_on.1: expected steps that do not wait for each other, got a cycle: a → b → a; remove one of these dependencies',
  ]);
});

test('F4: each of two cycles is named, and what stands behind one is not', () => {
  const problems = problemsOf([
    step('d', ['c']),
    step('a', ['c']),
    step('b', ['a']),
    step('c', ['b']),
    step('p', ['q']),
    step('q', ['p']),
  ]);
  assert.deepEqual(
    problems.map(({ message }) => /got a cycle: (.*);/.exec(message)?.[1]),
    ['a → b → c → a', 'p → q → p'],
  );
});

test('F4: a step that depends on itself is refused by name', () => {
  assert.deepEqual(textsOf(problemsOf([step('a', ['a'])])), [
    '0.depends_on.0: expected another step, got the step itself: a → a; remove it',
  ]);
});

test('F4: a missing step, a doubled one, an unknown task: each at its place, with what helps', () => {
  const steps = [
    step('pull'),
    step('sum', ['pul', 'mail', 'gone']),
    step('pull'),
    step('sun', ['sum', 'sum']),
  ];
  assert.deepEqual(textsOf(problemsOf(steps, new Set(['pull', 'sum', 'mail']))), [
    '2.task: expected a task that the flow does not have yet, got "pull", which is step 1 already',
    '3.task: expected the name of a task, got "sun"; add it under tasks',
    '1.depends_on.0: expected a step of this flow, got "pul"; did you mean "pull"?',
    '1.depends_on.1: expected a step of this flow, got "mail"; add it to the steps: { task: mail }',
    '1.depends_on.2: expected a step of this flow, got "gone"',
    '3.depends_on.1: expected each step once, got "sum" again; remove it',
  ]);
});

test('what is there already is not proposed: another step, a step named twice, the step itself', () => {
  const steps = [step('pull'), step('sum', ['pull', 'pul', 'sun']), step('pulled')];
  assert.deepEqual(textsOf(problemsOf(steps, new Set(['pull', 'sum', 'pulls']))), [
    '2.task: expected the name of a task, got "pulled"; did you mean "pulls"?',
    '1.depends_on.1: expected a step of this flow, got "pul"',
    '1.depends_on.2: expected a step of this flow, got "sun"',
  ]);
});

test('F4: no steps, too many, and too many in a row are refused; the bounds themselves are not', () => {
  const side = (count: number) => Array.from({ length: count }, (_, index) => step(`s${index}`));
  const row = (count: number) =>
    side(count).map((one, index) => (index === 0 ? one : { ...one, dependsOn: [`s${index - 1}`] }));
  assert.deepEqual(textsOf(problemsOf([])), [': expected at least one step, got none']);
  assert.deepEqual(problemsOf(side(MAX_FLOW_STEPS)), []);
  assert.match(problemsOf(side(MAX_FLOW_STEPS + 1))[0]!.message, /^expected at most 250 steps, got 251; /);
  assert.deepEqual(problemsOf(row(MAX_FLOW_DEPTH)), []);
  assert.deepEqual(problemsOf(row(MAX_FLOW_DEPTH + 1))[0]?.path, [MAX_FLOW_DEPTH]);
});

test('a step that is a problem by itself is passed over, and the others are checked', () => {
  const { problems } = checkFlow([undefined, step('a', ['a'])], new Set(['a']));
  assert.deepEqual(
    problems.map(({ path }) => path),
    [[1, 'depends_on', 0]],
  );
});

test('the order has every step once, behind all that it waits for; neighbours are those that were written', () => {
  fc.assert(
    fc.property(anyGraph(), (graph) => {
      const place = new Map(Array.from(graph.order, (one, at) => [one, at]));
      assert.equal(place.size, graph.size);
      for (const [index, { dependsOn }] of graph.steps.entries()) {
        assert.deepEqual(
          graph.upstreamOf(index).map((up) => graph.nameOf(up)),
          dependsOn,
        );
        assert.equal(graph.upstreamCount(index), dependsOn.length);
        const levels = graph.upstreamOf(index).map((up) => graph.level[up]! + 1);
        assert.equal(graph.level[index], Math.max(0, ...levels));
        for (const up of graph.upstreamOf(index)) {
          assert.ok(place.get(up)! < place.get(index)!);
          assert.ok(graph.downstreamOf(up).includes(index));
          assert.ok(graph.ancestorsOf(index).has(up) && graph.descendantsOf(up).has(index));
        }
        for (const next of graph.downstreamOf(index)) assert.ok(graph.upstreamOf(next).includes(index));
        assert.ok(!graph.ancestorsOf(index).has(index));
      }
    }),
    { numRuns: 60 },
  );
});

test('F4: an edge that turns a way around makes a cycle, and the path that is named is one', () => {
  fc.assert(
    fc.property(anySteps(20), fc.nat(), fc.nat(), (steps, a, b) => {
      const graph = graphOf(...steps);
      const last = a % steps.length;
      const before = [...graph.ancestorsOf(last)];
      if (before.length === 0) return;
      const first = before[b % before.length]!;
      const turned = steps.map((one, index) =>
        index === first ? { ...one, dependsOn: [...one.dependsOn, steps[last]!.task] } : one,
      );
      const problems = problemsOf(turned);
      assert.equal(problems.length, 1);
      const way = /got a cycle: (.*);/.exec(problems[0]!.message)![1]!.split(' → ');
      assert.equal(way[0], way.at(-1));
      for (const [at, name] of way.slice(1).entries()) {
        assert.ok(turned.find(({ task }) => task === name)!.dependsOn.includes(way[at]!));
      }
    }),
    { numRuns: 100 },
  );
});
