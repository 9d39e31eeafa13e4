/** How flows with long lists are taken up: what is held meanwhile, and what comes of an answer that fails halfway. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StepsPlace } from '../../src/actors/protocol.ts';
import type { Store } from '../../src/actors/store/index.ts';
import { begin, end, Feed } from '../store/feed.ts';
import { journalFile, sqliteStore } from '../store/sqlite-journal.ts';
import type { HasAfter } from '../support/temp-dir.ts';
import { FlowsRig, flowDefinition, stepDefinition as step } from './flows-rig.ts';

const ITEMS = 2500;
const FLOWS = ['f@1', 'f@2', 'f@3', 'f@4'];

/** A daemon that finds these flows; of each list the last item has not begun. */
function rigOf(t: HasAfter): FlowsRig {
  const file = journalFile(t);
  const before = sqliteStore(t, file);
  before.open('before', 0);
  const feed = new Feed(before);
  for (const flow of FLOWS) {
    feed.append([begin(flow, { task: 'f', note: JSON.stringify({ lists: { one: ITEMS } }) })]);
    for (let item = 0; item < ITEMS - 1; item++) {
      const run = `${flow}/one[${item}]`;
      feed.append([begin(run, { task: 'one', flow }), end(run, { task: 'one', flow })]);
    }
  }
  before.commit();
  before.close();
  const each = { list: '{{ payload.items }}', concurrency: 5, onFailure: 'continue' } as const;
  const rig = new FlowsRig({ flows: [flowDefinition([step('one', { each })])], file });
  t.after(() => rig.close());
  return rig;
}

/** The pages that are asked for; the first one that begins with the flow `failsAt` cannot be answered. */
function watched(store: Store, failsAt: string | null = null): StepsPlace[] {
  const asked: StepsPlace[] = [];
  const { flowSteps } = store;
  let hasFailed = false;
  store.flowSteps = (place) => {
    asked.push(place);
    if (place.flows[0] === failsAt && !hasFailed) {
      hasFailed = true;
      throw new Error('the disk is busy');
    }
    return flowSteps.call(store, place);
  };
  return asked;
}

async function until(rig: FlowsRig, isSo: () => boolean): Promise<void> {
  for (let turn = 0; !isSo(); turn++) {
    assert.ok(turn < 200, 'it does not come to that');
    await rig.settle();
  }
}

const LAST = FLOWS.map((flow) => `${flow}/one[${ITEMS - 1}]`);

test('a flow goes on as soon as its own runs are known: those of others are not held beside them', async (t) => {
  const rig = rigOf(t);
  const asked = watched(rig.store);
  const takenAfter = new Map<string, number>();
  rig.onTaken = (run) => void takenAfter.set(run, asked.length);
  await until(rig, () => takenAfter.size === FLOWS.length);
  assert.deepEqual([...takenAfter.keys()], LAST, 'no other item runs again');
  for (const [index, run] of LAST.entries()) {
    const needed = Math.ceil(((index + 1) * ITEMS) / 1000);
    const after = takenAfter.get(run)!;
    // The answer after it may be on its way.
    assert.ok(after <= needed + 1, `${run} after ${after} pages, ${needed} have its runs`);
  }
});

test('an answer that fails halfway is asked for again, without the flows that have gone on', async (t) => {
  const rig = rigOf(t);
  const asked = watched(rig.store, FLOWS[2]);
  await until(rig, () => asked.at(-1)?.flows[0] === FLOWS[2]);
  await rig.settle();
  assert.deepEqual([...rig.pool.held.keys()], LAST.slice(0, 2));
  const failed = asked.length;
  await rig.clock.advance(1000);
  assert.deepEqual(asked[failed], { flows: FLOWS.slice(2), after: 0 });
  await until(rig, () => rig.pool.held.size === FLOWS.length);
  for (const run of LAST) rig.finish(run);
  await rig.settle();
  for (const flow of FLOWS) assert.equal(rig.view(flow)?.state, 'success');
});

test('whether results are there for a run again is asked for without them', async (t) => {
  const rig = new FlowsRig({
    flows: [flowDefinition([step('pull'), step('sum', { dependsOn: ['pull'] })])],
    file: journalFile(t),
  });
  t.after(() => rig.close());
  const first = await rig.start();
  rig.result(`${first}/pull`, 'x'.repeat(100_000));
  await rig.settle();
  rig.fail(`${first}/sum`);
  await rig.told();
  const { results } = rig.store;
  rig.store.results = () => assert.fail('a result was fetched');
  await rig.again(first);
  rig.store.results = results;
  assert.deepEqual(rig.held, ['sum']);
});
