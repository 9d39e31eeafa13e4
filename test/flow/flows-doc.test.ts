/** docs/flows.md against the code: states, reasons, policies, bounds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  FAILURE_FIELDS,
  FLOW_FIELDS,
  FlowEndReason,
  ItemFailurePolicy,
  MAX_FILLED_LENGTH,
  MAX_FLOW_DEPTH,
  MAX_FLOW_ITEMS,
  MAX_FLOW_STEPS,
  MAX_TEMPLATE_DEPTH,
  STEP_STATES,
  STEP_TRANSITIONS,
  StepReason,
  UpstreamFailurePolicy,
} from '../../src/actors/flow/index.ts';
import { MAX_PATH_STEPS } from '../../src/actors/results/value-path.ts';
import { PAYLOAD_LIMIT } from '../../src/actors/runs/index.ts';
import { plain, readDocument, rowsBelow } from '../docs/markdown.ts';

const text = readDocument('docs/flows.md');
const firstCells = (heading: string): string[] => rowsBelow(text, heading).map(([cell = '']) => plain(cell));

test('the table of transitions and the reasons are those of the code', () => {
  const rows = rowsBelow(text, 'States of a step');
  const reasons = rows.findIndex(([cell]) => cell === 'reason');
  const moves = rows
    .slice(0, reasons)
    .map(([from = '', to = '']) => [plain(from), plain(to).split(', ')] as const);
  const known = STEP_STATES.map((state) => [state, STEP_TRANSITIONS[state]] as const);
  assert.deepEqual(
    moves,
    known.filter(([, next]) => next.length > 0),
  );
  assert.deepEqual(
    rows.slice(reasons + 1).map(([reason = '']) => plain(reason)),
    Object.values(StepReason),
  );
});

test('policies and ends are those of the code', () => {
  assert.deepEqual(firstCells('When a step before did not succeed'), Object.values(UpstreamFailurePolicy));
  assert.deepEqual(firstCells('A run for each item of a list'), Object.values(ItemFailurePolicy));
  assert.deepEqual(firstCells('How a flow ends').toSorted(), Object.values(FlowEndReason).toSorted());
});

test('bounds are those of the code', () => {
  const one = text.replaceAll('\n', ' ');
  assert.ok(one.includes(`more than ${MAX_FLOW_STEPS} steps, or more than ${MAX_FLOW_DEPTH} in a row`));
  assert.ok(one.includes(`at most ${MAX_FLOW_ITEMS.toLocaleString('en')} in all`));
  assert.ok(one.includes(`${MAX_TEMPLATE_DEPTH} levels of a \`with:\`, ${MAX_PATH_STEPS} steps of a path`));
  assert.ok(one.includes(`${MAX_FILLED_LENGTH / 1024} KiB of input`));
  assert.equal(MAX_FILLED_LENGTH, PAYLOAD_LIMIT);
  for (const field of [...FLOW_FIELDS, ...FAILURE_FIELDS])
    assert.ok(text.includes(`\`{{ flow.${field} }}\``));
});
