import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  isTerminal,
  RUN_STATES,
  RUN_TRANSITIONS,
  type RunState,
  transition,
} from '../../src/actors/runs/run-states.ts';

const anyState = fc.constantFrom(...RUN_STATES);

test('every transition of the table is made, every other one is refused and changes nothing', () => {
  fc.assert(
    fc.property(anyState, anyState, (from, to) => {
      const run = { id: 'a@1', state: from };
      if (RUN_TRANSITIONS[from].includes(to)) {
        transition(run, to);
        assert.equal(run.state, to);
      } else {
        assert.throws(() => transition(run, to), /expected a legal transition of a@1/);
        assert.equal(run.state, from);
      }
    }),
  );
});

test('the terminal states are success, failed, skipped and cancelled', () => {
  assert.deepEqual(RUN_STATES.filter(isTerminal).toSorted(), ['cancelled', 'failed', 'skipped', 'success']);
});

test('from every state some terminal state can be reached, and every state can be reached from pending', () => {
  const reach = (from: RunState): Set<RunState> => {
    const seen = new Set<RunState>([from]);
    for (const state of seen) for (const next of RUN_TRANSITIONS[state]) seen.add(next);
    return seen;
  };
  for (const state of RUN_STATES) assert.ok([...reach(state)].some(isTerminal), state);
  assert.equal(reach('pending').size, RUN_STATES.length);
});
