import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type FlowGraph,
  FlowRun,
  flowDot,
  flowEndReason,
  flowEndText,
  flowLines,
  flowMermaid,
  MAX_FLOW_DEPTH,
  type StepReason,
  StepReason as StepReasons,
  type StepShown,
  type StepState,
  stepReasonText,
} from '../../src/actors/flow/index.ts';
import { durationText } from '../../src/main/cli/render/time.ts';
import { anyGraph, graphOf, step } from './fixtures.ts';

const options = { durationText };

const daily = graphOf(
  step('pull_order'),
  step('pull_customers'),
  step('check-order', ['pull_order']),
  step('mail_each', ['check-order'], { each: { concurrency: 4, onFailure: 'stop' } }),
  step('sum_amount', ['check-order', 'pull_customers']),
  step('clean', ['sum_amount', 'mail_each', 'pull_order', 'pull_customers', 'check-order'], {
    onUpstreamFailure: 'run',
  }),
);

function shown(run: FlowRun, durations: readonly (number | null)[]): StepShown[] {
  return durations.map((durationMs, one) => ({
    state: run.stateOf(one),
    reason: run.reasonOf(one),
    cause: run.causeOf(one),
    detail: run.detailOf(one),
    durationMs,
    items: run.itemsOf(one),
  }));
}

function failedRun(): FlowRun {
  const run = new FlowRun(daily);
  run.begin();
  run.apply({ kind: 'succeeded', step: 0, item: null, result: null });
  run.apply({
    kind: 'failed',
    step: 2,
    item: null,
    reason: 'not-expected',
    detail: 'result: expected at least 1 row, got 0',
  });
  return run;
}

test('a flow run is shown stage by stage: state, duration, what it waits for, and why', () => {
  const lines = flowLines(
    { name: 'daily', graph: daily, steps: shown(failedRun(), [1234, null, 40, null, null, null]) },
    options,
  );
  assert.deepEqual(lines, [
    '1  ✓ pull_order      success    1.2 s',
    '   ○ pull_customers  ready          -',
    '2  ✗ check-order     failed     40 ms  ← pull_order  · not as expected: result: expected at least 1 row, got 0',
    '3  - mail_each       skipped        -  ← check-order  · check-order did not succeed',
    '   · sum_amount      pending        -  ← check-order, pull_customers',
    '4  · clean           pending        -  ← sum_amount, mail_each, pull_order, pull_customers and 1 more',
  ]);
});

test('a flow without a run is shown by its steps, and items by their number', () => {
  assert.equal(
    flowLines({ name: 'daily', graph: daily, steps: null }, options)[3],
    '3  mail_each       ← check-order  · each, 4 at a time',
  );
  const run = new FlowRun(daily);
  run.begin();
  for (const one of [0, 2]) run.apply({ kind: 'succeeded', step: one, item: null, result: null });
  run.apply({ kind: 'listed', step: 3, items: 9 });
  run.apply({ kind: 'succeeded', step: 3, item: 0, result: null });
  const steps = shown(run, [1, 1, 1, 1, 1, 1]);
  assert.match(flowLines({ name: 'daily', graph: daily, steps }, options)[3]!, /1 of 9 items$/);
});

test('of a list that failed its items are told once', () => {
  const run = new FlowRun(daily);
  const detail = 'of 7 items 2 failed, 1 was cancelled; the first is mail_each[3]: no luck';
  const steps = shown(run, [1, 1, 1, 1, 1, 1]);
  const items = { size: 7, succeeded: 4, failed: 2 };
  steps[3] = { ...steps[3]!, state: 'failed', reason: 'item-failed', detail, items, takenOver: 1 };
  assert.match(
    flowLines({ name: 'daily', graph: daily, steps }, options)[3]!,
    /← check-order {2}· 4 of 7 items \(1 in an earlier run\), 2 failed, 1 was cancelled; the first is mail_each\[3\]: no luck$/,
  );
});

test('forty steps are forty lines, of a width that a terminal has, and a row of any length is not indented', () => {
  fc.assert(
    fc.property(anyGraph(40), (graph) => {
      const run = new FlowRun(graph);
      run.begin();
      const steps = shown(
        run,
        graph.steps.map(() => 61_000),
      );
      const lines = flowLines({ name: 'any', graph, steps }, options);
      assert.equal(lines.length, graph.size);
      for (const line of lines) assert.ok(line.length <= 80, line);
    }),
    { numRuns: 40 },
  );
  const row = Array.from({ length: MAX_FLOW_DEPTH }, (_, index) =>
    step(`s${index}`, index === 0 ? [] : [`s${index - 1}`]),
  );
  const lines = flowLines({ name: 'row', graph: graphOf(...row), steps: null }, options);
  assert.equal(lines.at(-1), '100  s99  ← s98');
});

test('colours are the caller’s, and do not move the columns', () => {
  const steps = shown(failedRun(), [1, 1, 1, 1, 1, 1]);
  const flow = { name: 'daily', graph: daily, steps };
  const painted = flowLines(flow, { ...options, paint: (state, text) => `<${state}>${text}</>` });
  const stripped = painted.map((line) => line.replace(/<[^>]*>/g, ''));
  assert.deepEqual(stripped, flowLines(flow, options));
});

test('a graph for Graphviz, with and without a run', () => {
  const graph = graphOf(step('a'), step('b', ['a']));
  assert.equal(
    flowDot({ name: 'daily', graph, steps: null }, options),
    [
      'digraph "daily" {',
      '  rankdir=LR;',
      '  node [shape=box, style="rounded,filled", fillcolor="#ffffff"];',
      '  s0 [label="a"];',
      '  s1 [label="b"];',
      '  s0 -> s1;',
      '}',
      '',
    ].join('\n'),
  );
  const run = new FlowRun(graph);
  run.begin();
  run.apply({ kind: 'succeeded', step: 0, item: null, result: null });
  const text = flowDot({ name: 'daily', graph, steps: shown(run, [1500, null]) }, options);
  assert.match(text, /s0 \[label="a\\nsuccess, 1\.5 s", fillcolor="#dcfce7", color="#15803d"\];/);
});

test('a graph for Mermaid, with and without a run', () => {
  const graph = graphOf(step('a'), step('b', ['a']));
  assert.equal(
    flowMermaid({ name: 'daily', graph, steps: null }, options),
    'flowchart LR\n  s0["a"]\n  s1["b"]\n  s0 --> s1\n',
  );
  const run = new FlowRun(graph);
  run.begin();
  const text = flowMermaid({ name: 'daily', graph, steps: shown(run, [1500, null]) }, options);
  assert.match(text, /s0\["a<br\/>ready, 1\.5 s"\]/);
  assert.match(text, /classDef pending fill:#ffffff,stroke:#8a8a8a\n {2}class s1 pending\n$/);
});

test('names and texts cannot end what they stand in, nor act on a terminal', () => {
  const graph: FlowGraph = graphOf(step('a"];\n x -> \\y'), step('<b>#\x1b[2J"', ['a"];\n x -> \\y']));
  const flow = { name: 'n"{', graph, steps: null };
  for (const line of flowLines(flow, options)) assert.doesNotMatch(line, /[\x00-\x1f]/);
  const dot = flowDot(flow, options);
  assert.match(dot, /^digraph "n\\"\{" \{$/m);
  assert.match(dot, /s0 \[label="a\\"\];\\\\n x -> \\\\y"\];$/m);
  for (const [, label = ''] of flowMermaid(flow, options).matchAll(/\["(.*)"\]$/gm)) {
    assert.match(label, /^[\p{L}\p{N} _.,:()/+#;-]*$/u);
  }
});

test('every reason and every end has words', () => {
  const one = (reason: StepReason): StepShown => ({
    state: 'failed',
    reason,
    cause: reason === 'upstream' ? 0 : null,
    detail: null,
    durationMs: null,
    items: null,
  });
  for (const reason of Object.values(StepReasons)) {
    assert.equal(stepReasonText(one(reason), daily) === '', reason === 'done', reason);
  }
  assert.equal(stepReasonText(one('upstream'), daily), 'pull_order did not succeed');
});

test('the end of a flow names the others that failed of themselves', () => {
  const failed = { state: 'failed', reason: 'step-failed', step: 0 } as const;
  const end = (others: Readonly<Record<number, StepReason>>) => {
    const run = {
      stateOf: (one: number) => (one === 0 || one in others ? 'failed' : 'success') as StepState,
      reasonOf: (one: number) => others[one] ?? ('run-failed' as const),
      causeOf: () => 0,
      detailOf: () => null,
    };
    return flowEndReason(failed, { graph: daily, run });
  };
  assert.equal(end({ 2: 'upstream' }), 'step pull_order failed: its run failed');
  assert.equal(
    end({ 1: 'run-failed', 3: 'item-failed', 4: 'upstream' }),
    'step pull_order failed: its run failed; also failed: pull_customers, mail_each',
  );
});

test('the end of a flow says why the step that decided it ended as it did, whatever the reason', () => {
  const of = (reason: StepReason, detail: string | null = null) => ({
    graph: daily,
    run: {
      stateOf: (one: number) => (one === 2 ? 'failed' : 'success') as StepState,
      reasonOf: () => reason,
      causeOf: () => 0,
      detailOf: () => detail,
    },
  });
  const failed = { state: 'failed', reason: 'step-failed', step: 2 } as const;
  for (const reason of Object.values(StepReasons)) {
    const said = stepReasonText({ reason, cause: 0, detail: 'a, not b' }, daily);
    assert.equal(
      flowEndReason(failed, of(reason, 'a, not b')),
      `step check-order failed${said && `: ${said}`}`,
    );
  }
  assert.equal(
    flowEndText(failed, of('not-expected', 'result: expected 2 rows')),
    'failed: step check-order failed: not as expected: result: expected 2 rows',
  );
  assert.equal(
    flowEndText({ state: 'failed', reason: 'step-skipped', step: 2 }, of('run-skipped', 'no room')),
    'failed: step check-order did not run: its run was skipped: no room',
  );
  for (const state of ['success', 'cancelled'] as const) {
    const reason = state === 'success' ? 'done' : 'cancelled';
    assert.equal(flowEndText({ state, reason, step: null }, of('done')), state);
  }
});
