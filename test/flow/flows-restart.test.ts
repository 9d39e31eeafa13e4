/** What a daemon after must know of flows, and what happens while one is between two states. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { journalFile } from '../store/sqlite-journal.ts';
import type { HasAfter } from '../support/temp-dir.ts';
import { FlowsRig, flowDefinition, type RigOptions, stepDefinition as step } from './flows-rig.ts';

function rigOf(
  t: HasAfter,
  steps: Parameters<typeof flowDefinition>[0],
  more: Partial<RigOptions> & { readonly timeoutMs?: number } = {},
): FlowsRig {
  const { timeoutMs = null, ...options } = more;
  const rig = new FlowsRig({
    flows: [flowDefinition(steps, { timeoutMs })],
    file: journalFile(t),
    ...options,
  });
  t.after(() => rig.close());
  return rig;
}

test('a result that was not as expected is so for the daemon after too', async (t) => {
  const rig = rigOf(t, [
    step('pull', { expect: { min_rows: 2 } }),
    step('other'),
    step('sum', { dependsOn: ['pull', 'other'] }),
    step('clean', { dependsOn: ['pull', 'other'], onUpstreamFailure: 'run' }),
  ]);
  const run = await rig.start();
  rig.result(`${run}/pull`, [1]);
  await rig.settle();
  await rig.crash();
  assert.deepEqual(rig.held, ['other']);
  rig.finish(`${run}/other`);
  await rig.settle();
  assert.deepEqual(rig.held, ['clean'], 'nothing is made of it');
  assert.deepEqual((await rig.states(run)).slice(0, 3), [
    'pull failed not-expected',
    'other success done',
    'sum skipped upstream',
  ]);
});

test('what a step says in place of its task holds for the daemon after too', async (t) => {
  const limits = {
    timeoutMs: 1234,
    maxRetry: 1,
    priority: 7,
    backoff: { kind: 'scaled', baseMs: 10, capMs: 20 },
  } as const;
  const rig = rigOf(t, [step('pull', { limits })]);
  const run = await rig.start();
  await rig.crash();
  assert.equal(rig.pool.taken.at(-1)?.timeoutMs, 1234);
  const error = { code: 'handler-failed', message: 'no luck' } as const;
  rig.finish(`${run}/pull`, { status: 'failed', error, retryable: true });
  await rig.clock.advance(20);
  await rig.settle();
  assert.deepEqual(rig.held, ['pull'], 'it has a retry, which its task has not');
  rig.finish(`${run}/pull`, { status: 'failed', error, retryable: true });
  await rig.clock.advance(20);
  await rig.settle();
  assert.equal(rig.view(run)?.state, 'failed');
});

test('the timeout of a flow is from its start, over daemons, however long it waited before', async (t) => {
  const rig = rigOf(t, [step('pull')], { timeoutMs: 60_000 });
  const dueAtMs = rig.clock.wallMs() + 100_000;
  rig.runs.trigger({ task: 'f', payload: null, force: false, wait: false, dueAtMs }, { ok() {}, fail() {} });
  await rig.settle();
  await rig.clock.advance(100_000);
  await rig.settle();
  assert.deepEqual(rig.held, ['pull']);
  await rig.clock.advance(40_000);
  await rig.crash();
  await rig.clock.advance(15_000);
  await rig.settle();
  assert.equal(rig.pool.aborted.length, 0);
  await rig.clock.advance(6000);
  await rig.settle();
  assert.deepEqual(
    rig.pool.aborted.map((one) => one.slice(one.indexOf('/'))),
    ['/pull'],
  );
});

test('an end that comes while the store is asked is seen by the same sweep', async (t) => {
  let lossy = false;
  const rig = rigOf(t, [step('pull'), step('sum', { dependsOn: ['pull'] })], { isLost: () => lossy });
  const run = await rig.start();
  const old = structuredClone(rig.store.flowSteps({ flows: [run], after: 0 }));
  lossy = true;
  rig.finish(`${run}/pull`);
  await rig.settle();
  lossy = false;
  const { flowSteps } = rig.store;
  rig.store.flowSteps = () => {
    rig.store.flowSteps = flowSteps;
    return old;
  };
  rig.flows.sweep();
  await rig.settle();
  assert.deepEqual(rig.held, ['sum']);
});

test('items that wait for room when the flow is cancelled are never made', async (t) => {
  const each = { list: '{{ payload.items }}', concurrency: 200, onFailure: 'stop' } as const;
  const rig = rigOf(t, [step('one', { each, with: { id: '{{ item }}' } })], { ready: 1, slots: 1 });
  const run = await rig.start('f', { items: Array.from({ length: 200 }, (_, item) => item) });
  const { unfinished } = rig.runs.figures;
  assert.ok(unfinished < 100, `${unfinished} of them have room`);
  rig.runs.cancel(run);
  await rig.settle();
  for (const one of [...rig.pool.held.keys()]) rig.finish(one, { status: 'cancelled' });
  await rig.settle();
  assert.equal(rig.view(run)?.state, 'cancelled');
  const steps = rig.store.flowSteps({ flows: [run], after: 0 }).steps.map(({ state }) => state);
  assert.ok(steps.length < unfinished + 1 && steps.every((state) => state === 'cancelled'), steps.join());
  assert.equal(rig.runs.figures.unfinished, 0);
});

/** Its step ends without a run of its own to tell: an item has no input, or there is no list. */
const UNMADE = {
  'an item without an input': { payload: [1, { id: 2 }, 3], reason: 'item-failed' },
  'no list': { payload: { id: 2 }, reason: 'no-input' },
} as const;

for (const [what, { payload, reason }] of Object.entries(UNMADE)) {
  test(`what follows from ${what} is not done again by the daemon after`, async (t) => {
    const each = { list: '{{ payload }}', concurrency: 1, onFailure: 'continue' } as const;
    const rig = rigOf(t, [
      step('first'),
      step('bill', { dependsOn: ['first'], each, with: { id: '{{ item.id }}' } }),
      step('clean', { dependsOn: ['bill'], onUpstreamFailure: 'run' }),
      step('last', { dependsOn: ['clean'] }),
    ]);
    const run = await rig.start('f', payload);
    rig.finish(`${run}/first`);
    await rig.settle();
    if (reason === 'item-failed') {
      assert.deepEqual(rig.held, ['bill[1]']);
      await rig.crash();
      assert.deepEqual(rig.held, ['bill[1]'], 'the others fail once more');
      rig.finish(`${run}/bill[1]`);
      await rig.settle();
    }
    assert.deepEqual(rig.held, ['clean']);
    rig.finish(`${run}/clean`);
    await rig.settle();
    const before = await rig.states(run);
    assert.equal(before[1], `bill failed ${reason}`);
    const { detail } = (await rig.show(run)).steps![1]!;
    await rig.crash();
    assert.deepEqual([rig.held, await rig.states(run)], [['last'], before]);
    assert.equal((await rig.show(run)).steps![1]!.detail, detail);
    rig.finish(`${run}/last`);
    await rig.settle();
    const { message } = rig.view(run)!.error!;
    assert.ok(message.startsWith('step bill failed: ') && message.endsWith(detail!), message);
  });
}

test('what is kept of items that fail is no more the more there are', async (t) => {
  const each = { list: '{{ payload }}', concurrency: 10, onFailure: 'continue' } as const;
  const rig = rigOf(t, [step('bill', { each, with: { id: '{{ item.id }}' } })]);
  const kept: number[] = [];
  const why = 'no input: expected a value at item.id, got 1 at item';
  for (const items of [20, 2000]) {
    const run = await rig.start('f', new Array(items).fill(1));
    while (rig.flows.active > 0) await rig.settle();
    const [bill] = (await rig.show(run)).steps!;
    assert.equal(bill?.detail, `of ${items} items ${items} failed; the first is bill[0]: ${why}`);
    const notes = rig.events.flatMap((event) => (event.run === run ? [event.note ?? ''] : []));
    kept.push(notes.join('').length);
  }
  assert.ok(kept[0]! > 0 && kept[1]! < kept[0]! + 1000, `${kept}`);
});
