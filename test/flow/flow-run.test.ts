import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type FlowEffect,
  type FlowEvent,
  FlowRun,
  MAX_FLOW_ITEMS,
  type SeenRun,
  type SeenRuns,
  STEP_STATES,
  STEP_TRANSITIONS,
} from '../../src/actors/flow/index.ts';
import { stepTransition } from '../../src/actors/flow/step-states.ts';
import { RUN_TRANSITIONS } from '../../src/actors/runs/index.ts';
import { graphOf, step } from './fixtures.ts';

const succeeded = (one: number, item: number | null = null): FlowEvent => ({
  kind: 'succeeded',
  step: one,
  item,
  result: null,
});
const failed = (one: number, item: number | null = null): FlowEvent => ({
  kind: 'failed',
  step: one,
  item,
  reason: 'run-failed',
  detail: 'timeout: expected an end within 3 s',
});

const seenAs = (state: SeenRun['state']): SeenRun => ({ state, result: null, reason: null, detail: null });

/** `start 1`, `start 2[0]`, `ended 0 success done`, `over failed step-failed 0`. */
function textsOf(effects: readonly FlowEffect[]): string[] {
  return effects.map((effect) => {
    switch (effect.kind) {
      case 'step-ended':
        return `ended ${effect.step} ${effect.state} ${effect.reason}`;
      case 'over':
        return `over ${effect.end.state} ${effect.end.reason} ${effect.end.step}`;
      case 'list':
        return `list ${effect.step}`;
      default:
        return `${effect.kind} ${effect.step}${effect.item === null ? '' : `[${effect.item}]`}`;
    }
  });
}

test('states of a step are states of a run, and only moves of the table are made', () => {
  for (const state of STEP_STATES) assert.ok(state in RUN_TRANSITIONS);
  const anyState = fc.constantFrom(...STEP_STATES);
  fc.assert(
    fc.property(anyState, anyState, (from, to) => {
      if (STEP_TRANSITIONS[from].includes(to)) assert.equal(stepTransition('a', from, to), to);
      else assert.throws(() => stepTransition('a', from, to), /expected a legal transition of step a/);
    }),
  );
});

test('a step is told when all before it are over, and the flow when its last step is', () => {
  const flow = new FlowRun(graphOf(step('a'), step('b', ['a']), step('c', ['a']), step('d', ['b', 'c'])));
  assert.deepEqual(textsOf(flow.begin()), ['start 0']);
  assert.deepEqual(textsOf(flow.apply({ kind: 'began', step: 0, item: null })), []);
  assert.equal(flow.stateOf(0), 'running');
  assert.deepEqual(textsOf(flow.apply(succeeded(0))), ['ended 0 success done', 'start 1', 'start 2']);
  assert.deepEqual(textsOf(flow.apply(succeeded(2))), ['ended 2 success done']);
  assert.deepEqual(textsOf(flow.apply(succeeded(1))), ['ended 1 success done', 'start 3']);
  assert.equal(flow.end, null);
  assert.deepEqual(textsOf(flow.apply(succeeded(3))), ['ended 3 success done', 'over success done null']);
});

test('F2: an event that comes twice, late, or for a step that has not begun changes nothing', () => {
  const flow = new FlowRun(graphOf(step('a'), step('b', ['a'])));
  flow.begin();
  assert.deepEqual(textsOf(flow.apply(succeeded(1))), []);
  for (const none of [-1, 2, 3, 4, 99]) assert.deepEqual(flow.apply(succeeded(none)), []);
  flow.apply(succeeded(0));
  for (const late of [
    succeeded(0),
    failed(0),
    { kind: 'began', step: 0, item: null } as const,
    failed(0, 3),
  ]) {
    assert.deepEqual(textsOf(flow.apply(late)), []);
  }
  assert.deepEqual([flow.stateOf(0), flow.stateOf(1)], ['success', 'ready']);
  flow.apply(succeeded(1));
  assert.deepEqual(flow.apply({ kind: 'stop', reason: 'flow-cancelled' }), []);
});

test('F1: after a failure each step does as its policy says, names the step that failed, and the flow has failed', () => {
  const flow = new FlowRun(
    graphOf(
      step('a'),
      step('skips', ['a']),
      step('fails', ['a'], { onUpstreamFailure: 'fail' }),
      step('runs', ['a', 'skips'], { onUpstreamFailure: 'run' }),
    ),
  );
  flow.begin();
  assert.deepEqual(textsOf(flow.apply(failed(0))).toSorted(), [
    'ended 0 failed run-failed',
    'ended 1 skipped upstream',
    'ended 2 failed upstream',
    'start 3',
  ]);
  assert.deepEqual([flow.causeOf(1), flow.causeOf(2), flow.causeOf(3)], [0, 0, null]);
  assert.match(flow.detailOf(0)!, /^timeout: /);
  assert.deepEqual(textsOf(flow.apply(succeeded(3))), ['ended 3 success done', 'over failed step-failed 0']);
});

test('F1: a step that cleans up waits for all that is before it, not for the first failure', () => {
  const flow = new FlowRun(
    graphOf(
      step('a'),
      step('slow'),
      step('b', ['a', 'slow']),
      step('clean', ['b'], { onUpstreamFailure: 'run' }),
    ),
  );
  flow.begin();
  assert.deepEqual(textsOf(flow.apply(failed(0))), ['ended 0 failed run-failed']);
  assert.deepEqual(textsOf(flow.apply(succeeded(1))).slice(1), ['ended 2 skipped upstream', 'start 3']);
});

test('F1: a run that was cancelled or skipped, or whose task is removed, ends its step with that reason', () => {
  const one = () => {
    const flow = new FlowRun(graphOf(step('a')));
    flow.begin();
    return flow;
  };
  assert.deepEqual(textsOf(one().apply({ kind: 'cancelled', step: 0, item: null })), [
    'ended 0 cancelled run-cancelled',
    'over cancelled step-cancelled 0',
  ]);
  assert.deepEqual(textsOf(one().apply({ kind: 'skipped', step: 0, item: null, detail: null })), [
    'ended 0 skipped run-skipped',
    'over failed step-skipped 0',
  ]);
  assert.deepEqual(textsOf(one().apply({ kind: 'orphaned', step: 0, item: null })), [
    'cancel 0',
    'ended 0 failed task-removed',
    'over failed step-failed 0',
  ]);
});

test('F1: a flow that is stopped cancels what runs, starts nothing more, and ends when that has ended', () => {
  for (const [reason, first, over] of [
    ['flow-cancelled', 'ended 0 success done', 'over cancelled cancelled null'],
    ['flow-timed-out', 'ended 0 cancelled flow-timed-out', 'over failed timed-out 0'],
  ] as const) {
    const flow = new FlowRun(graphOf(step('a'), step('b'), step('c', ['a'], { onUpstreamFailure: 'run' })));
    flow.begin();
    assert.deepEqual(textsOf(flow.apply({ kind: 'stop', reason })).toSorted(), [
      'cancel 0',
      'cancel 1',
      `ended 2 cancelled ${reason}`,
    ]);
    assert.deepEqual(flow.apply({ kind: 'stop', reason: 'flow-cancelled' }), []);
    assert.equal(flow.stopping, reason);
    assert.deepEqual(textsOf(flow.apply(succeeded(0))), [first]);
    const last = textsOf(flow.apply({ kind: 'cancelled', step: 1, item: null }));
    assert.deepEqual(last, [`ended 1 cancelled ${reason}`, over]);
  }
});

test('F1: whatever comes of the steps after the timeout of the flow, it has timed out', () => {
  const each = { concurrency: 1, onFailure: 'stop' } as const;
  const list = graphOf(step('a', [], { each }));
  const listed: FlowEvent = { kind: 'listed', step: 0, items: 1 };
  const cases: [FlowEvent, string][] = [
    [succeeded(0), 'ended 0 cancelled flow-timed-out'],
    [failed(0), 'ended 0 failed run-failed'],
    [{ kind: 'skipped', step: 0, item: null, detail: null }, 'ended 0 skipped run-skipped'],
    [{ kind: 'cancelled', step: 0, item: null }, 'ended 0 cancelled flow-timed-out'],
  ];
  for (const [event, ended] of cases) {
    for (const graph of [graphOf(step('a')), list]) {
      const isList = graph === list;
      const flow = new FlowRun(graph);
      flow.begin();
      if (isList) flow.apply(listed);
      assert.deepEqual(flow.atWork, [0]);
      flow.apply({ kind: 'stop', reason: 'flow-timed-out' });
      const [first, over] = textsOf(flow.apply(isList ? ({ ...event, item: 0 } as FlowEvent) : event));
      assert.equal(first, isList ? 'ended 0 cancelled flow-timed-out' : ended);
      assert.equal(over, 'over failed timed-out 0');
    }
  }
});

test('F3: a flow taken up after its timeout knows which steps were at work when it came', () => {
  const graph = graphOf(step('a'), step('b'));
  const flow = new FlowRun(graph, { stopping: 'flow-timed-out', late: [1] });
  assert.deepEqual(textsOf(flow.sweep({ run: () => seenAs('success'), items: () => null })), [
    'ended 0 success done',
    'ended 1 cancelled flow-timed-out',
    'over failed timed-out 1',
  ]);
});

test('F2: the sweep starts what was not started, ends what has ended, and fails what is gone', () => {
  const flow = new FlowRun(graphOf(step('a'), step('b', ['a']), step('c')));
  flow.begin();
  flow.apply({ kind: 'began', step: 2, item: null });
  const seen = { state: 'success', result: 'file-1', reason: null, detail: null } as const;
  const effects = flow.sweep({ run: (one) => (one === 0 ? seen : null), items: () => null });
  assert.deepEqual(textsOf(effects).toSorted(), [
    'ended 0 success done',
    'ended 2 failed run-lost',
    'start 1',
  ]);
  assert.equal(flow.resultOf(0), 'file-1');
});

test('items run so many at a time; the step is over with the last one, and says how many did not succeed', () => {
  const each = { concurrency: 2, onFailure: 'continue' } as const;
  const flow = new FlowRun(graphOf(step('a', [], { each }), step('b', ['a'])));
  assert.deepEqual(textsOf(flow.begin()), ['list 0']);
  assert.deepEqual(textsOf(flow.apply({ kind: 'listed', step: 0, items: 4 })), ['start 0[0]', 'start 0[1]']);
  assert.deepEqual(textsOf(flow.apply({ kind: 'listed', step: 0, items: 9 })), []);
  assert.deepEqual(textsOf(flow.apply(succeeded(0, 1))), ['start 0[2]']);
  assert.deepEqual(textsOf(flow.apply(succeeded(0, 1))), []);
  assert.deepEqual(textsOf(flow.apply(succeeded(0, 3))), []);
  assert.deepEqual(textsOf(flow.apply(failed(0, 0))), ['start 0[3]']);
  assert.deepEqual(textsOf(flow.apply(failed(0))), [], 'the step has no run of its own');
  assert.deepEqual(flow.itemsOf(0)?.size, 4);
  flow.apply(succeeded(0, 2));
  assert.deepEqual(textsOf(flow.apply(succeeded(0, 3))), [
    'ended 0 failed item-failed',
    'ended 1 skipped upstream',
    'over failed step-failed 0',
  ]);
  assert.equal(
    flow.detailOf(0),
    'of 4 items 1 failed; the first is a[0]: timeout: expected an end within 3 s',
  );
});

test('of items that did not succeed, the first of the list is named, and not the first that ended', () => {
  const each = { concurrency: 4, onFailure: 'continue' } as const;
  const flow = new FlowRun(graphOf(step('a', [], { each })));
  flow.begin();
  flow.apply({ kind: 'listed', step: 0, items: 4 });
  for (const [item, detail] of [
    [2, 'no c'],
    [1, 'no b'],
    [3, 'no d'],
  ] as const)
    flow.apply({ kind: 'failed', step: 0, item, reason: 'run-failed', detail });
  flow.apply(succeeded(0, 0));
  assert.equal(flow.detailOf(0), 'of 4 items 3 failed; the first is a[1]: no b');
});

test('the first item that fails stops the others where the step says so', () => {
  const each = { concurrency: 2, onFailure: 'stop' } as const;
  const flow = new FlowRun(graphOf(step('a', [], { each })));
  flow.begin();
  flow.apply({ kind: 'listed', step: 0, items: 4 });
  assert.deepEqual(textsOf(flow.apply(failed(0, 0))), ['cancel 0[1]']);
  assert.deepEqual(textsOf(flow.apply({ kind: 'cancelled', step: 0, item: 1 })), [
    'ended 0 failed item-failed',
    'over failed step-failed 0',
  ]);
});

test('of a list that ends before its time it is told what failed, what was cut and what did not begin', () => {
  const each = { concurrency: 3, onFailure: 'stop' } as const;
  const graph = graphOf(step('bad', [], { each }));
  const flow = new FlowRun(graph);
  flow.begin();
  flow.apply({ kind: 'listed', step: 0, items: 30 });
  flow.apply(succeeded(0, 0));
  flow.apply(failed(0, 3));
  flow.apply(succeeded(0, 2));
  flow.apply({ kind: 'cancelled', step: 0, item: 1 });
  const said =
    'of 30 items 1 failed, 1 was cancelled, 26 did not begin; the first is bad[3]: timeout: expected';
  assert.ok(flow.detailOf(0)?.startsWith(said), `${flow.detailOf(0)}`);
  const states: Record<number, SeenRun> = {
    0: seenAs('success'),
    1: seenAs('cancelled'),
    2: seenAs('success'),
    3: { ...seenAs('failed'), detail: 'timeout: expected an end within 3 s' },
  };
  const again = new FlowRun(graph);
  again.sweep({ run: (_, item) => states[item!] ?? null, items: () => 30 });
  assert.equal(again.detailOf(0), flow.detailOf(0), 'a daemon after says the same');
});

test('an item that did not succeed is told with what was said of it, however it ended', () => {
  const cases: [FlowEvent, string][] = [
    [failed(0, 0), '1 failed; the first is a[0]: timeout: expected an end within 3 s'],
    [
      { ...failed(0, 0), reason: 'no-input', detail: 'expected a' } as FlowEvent,
      '1 failed; the first is a[0]: no input: expected a',
    ],
    [{ kind: 'skipped', step: 0, item: 0, detail: 'no room' }, '1 failed; the first is a[0]: no room'],
    [{ kind: 'cancelled', step: 0, item: 0 }, '1 was cancelled; the first is a[0]'],
    [{ kind: 'orphaned', step: 0, item: 0 }, '1 failed; the first is a[0]: its task is gone from the config'],
  ];
  for (const [event, said] of cases) {
    const flow = new FlowRun(graphOf(step('a', [], { each: { concurrency: 2, onFailure: 'continue' } })));
    flow.begin();
    flow.apply({ kind: 'listed', step: 0, items: 2 });
    flow.apply(succeeded(0, 1));
    flow.apply(event);
    assert.equal(flow.detailOf(0), `of 2 items ${said}`);
  }
});

test('F1: an item whose task is removed has failed, and its run is cancelled', () => {
  const flow = new FlowRun(graphOf(step('a', [], { each: { concurrency: 1, onFailure: 'continue' } })));
  flow.begin();
  flow.apply({ kind: 'listed', step: 0, items: 1 });
  assert.deepEqual(textsOf(flow.apply({ kind: 'orphaned', step: 0, item: 0 }))[0], 'cancel 0[0]');
  assert.equal(flow.stateOf(0), 'failed');
});

test('F1: a list that is stopped cancels the items that run, and begins no more', () => {
  const each = { concurrency: 2, onFailure: 'continue' } as const;
  const flow = new FlowRun(graphOf(step('a', [], { each })));
  flow.begin();
  flow.apply({ kind: 'listed', step: 0, items: 3 });
  const effects = flow.apply({ kind: 'stop', reason: 'flow-cancelled' });
  assert.deepEqual(textsOf(effects), ['cancel 0[0]', 'cancel 0[1]']);
  assert.deepEqual(textsOf(flow.apply(succeeded(0, 0))), []);
  assert.deepEqual(textsOf(flow.apply({ kind: 'cancelled', step: 0, item: 1 })), [
    'ended 0 cancelled flow-cancelled',
    'over cancelled cancelled null',
  ]);
  const asked = new FlowRun(graphOf(step('a', [], { each })));
  asked.begin();
  const ended = asked.apply({ kind: 'stop', reason: 'flow-timed-out' });
  assert.deepEqual(textsOf(ended), ['ended 0 cancelled flow-timed-out', 'over failed timed-out 0']);
  assert.deepEqual(asked.apply({ kind: 'listed', step: 0, items: 3 }), []);
});

test('F3: items that have a run go on where they are, the others start as places get free', () => {
  const each = { concurrency: 2, onFailure: 'continue' } as const;
  const flow = new FlowRun(graphOf(step('a', [], { each })));
  const effects = flow.sweep({
    run: (_, item) => (item === 0 ? seenAs('success') : item === 2 ? seenAs('retrying') : null),
    items: () => 4,
  });
  assert.deepEqual(textsOf(effects), ['start 0[1]']);
  assert.deepEqual(textsOf(flow.apply(succeeded(0, 2))), ['start 0[3]']);
});

test('F3: a flow that was being stopped is taken up so: what has a run is cancelled again, the rest does not begin', () => {
  const each = { concurrency: 2, onFailure: 'stop' } as const;
  const graph = graphOf(step('a'), step('b', [], { each }), step('c', ['a']));
  const flow = new FlowRun(graph, { stopping: 'flow-cancelled' });
  const seen: SeenRuns = {
    run: (one, item) => (one === 0 || item === 1 ? seenAs('running') : null),
    items: (one) => (one === 1 ? 3 : null),
  };
  assert.deepEqual(textsOf(flow.sweep(seen)), [
    'cancel 0',
    'cancel 1[1]',
    'ended 2 cancelled flow-cancelled',
  ]);
  assert.deepEqual(textsOf(flow.sweep(seen)), ['cancel 0', 'cancel 1[1]']);
  flow.apply({ kind: 'cancelled', step: 0, item: null });
  assert.deepEqual(textsOf(flow.apply({ kind: 'cancelled', step: 1, item: 1 })), [
    'ended 1 cancelled flow-cancelled',
    'over cancelled cancelled null',
  ]);
});

test('an empty list is a success; one that is too long, or cannot be found, fails its step', () => {
  const ends = (event: FlowEvent): string[] => {
    const flow = new FlowRun(graphOf(step('a', [], { each: { concurrency: 1, onFailure: 'stop' } })));
    flow.begin();
    return textsOf(flow.apply(event));
  };
  assert.equal(ends({ kind: 'listed', step: 0, items: 0 })[0], 'ended 0 success done');
  assert.equal(ends({ kind: 'listed', step: 0, items: MAX_FLOW_ITEMS + 1 })[0], 'ended 0 failed no-input');
  const event = { kind: 'failed', step: 0, item: null, reason: 'no-input', detail: null } as const;
  assert.equal(ends(event)[0], 'ended 0 failed no-input');
});
