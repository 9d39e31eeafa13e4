/** A flow that is stopped while something is being read for it: what comes of that is said to nobody. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTerminal } from '../../src/actors/runs/index.ts';
import { journalFile } from '../store/sqlite-journal.ts';
import { FlowsRig, flowDefinition, stepDefinition as step } from './flows-rig.ts';

const each = { concurrency: 2, onFailure: 'continue' } as const;
const one = '{{ steps.pull.result.rows[1] }}';

/** Each asks for what is in the file of `pull`, and gets as far as that. */
const ASKING = {
  list: step('next', {
    dependsOn: ['pull'],
    each: { ...each, list: '{{ steps.pull.result.rows }}' },
    with: { item: '{{ item }}' },
  }),
  input: step('next', { dependsOn: ['pull'], with: { one } }),
  items: step('next', {
    dependsOn: ['pull'],
    each: { ...each, list: '{{ payload }}' },
    with: { item: '{{ item }}', one },
  }),
};
type Asking = keyof typeof ASKING;

for (const end of ['kept', 'on its way'] as const) {
  test(`an answer that comes when the flow is over, and its end is ${end}`, async (t) => {
    const flows = Object.entries(ASKING).map(([name, next]) =>
      flowDefinition([step('pull'), next], { name }),
    );
    const rig = new FlowsRig({ flows, file: journalFile(t) });
    t.after(() => rig.close());
    for (const flow of Object.keys(ASKING) as Asking[]) {
      for (const answer of ['found', 'gone'] as const) await stopWhileAsking(rig, { flow, answer, end });
    }
  });
}

async function stopWhileAsking(
  rig: FlowsRig,
  how: { readonly flow: Asking; readonly answer: 'found' | 'gone'; readonly end: 'kept' | 'on its way' },
): Promise<void> {
  const disk = Promise.withResolvers<void>();
  const acknowledged = Promise.withResolvers<void>();
  const looks = rig.looks;
  rig.disk = disk.promise;
  const run = await rig.start(how.flow, [1, 2, 3]);
  const path = rig.fileResult(`${run}/pull`, { rows: ['x'.repeat(1000), 'y'] });
  await rig.settle();
  if (how.end === 'on its way') rig.acknowledged = acknowledged.promise;
  rig.runs.cancel(run);
  await rig.settle();
  const kept = rig.store.show(run);
  assert.equal(kept?.state, 'cancelled');
  if (how.answer === 'gone') rig.files.delete(path);
  disk.resolve();
  await rig.settle();
  acknowledged.resolve();
  await rig.settle();
  const what = Object.values(how).join(', ');
  assert.ok(rig.looks > looks, `${what}: it was asked for`);
  assert.deepEqual(rig.store.show(run), kept, what);
  const ends = rig.events.filter((event) => event.run === run && isTerminal(event.state));
  assert.equal(ends.length, 1, what);
  assert.deepEqual([rig.flows.active, rig.flows.heldBytes, rig.flows.busy], [0, 0, false], what);
}
