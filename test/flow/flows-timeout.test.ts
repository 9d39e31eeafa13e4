/** Flows past their timeout, and at it while no daemon is there. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { flowDefinition, rigOf, stepDefinition as step } from './flows-rig.ts';

const CHAIN = [step('pull'), step('check', { dependsOn: ['pull'] }), step('sum', { dependsOn: ['check'] })];

for (const kind of ['memory', 'sqlite'] as const) {
  describe(`the timeout of a flow: ${kind}`, () => {
    test('a step that ends well after the timeout of its flow is no success, nor is the flow, nor is it taken over', async (t) => {
      const steps = [
        step('early'),
        step('late', { dependsOn: ['early'] }),
        step('last', { dependsOn: ['late'] }),
      ];
      const rig = rigOf(t, kind, { flows: [flowDefinition(steps, { timeoutMs: 60_000 })] });
      const run = await rig.start();
      rig.finish(`${run}/early`);
      await rig.settle();
      await rig.clock.advance(61_000);
      await rig.settle();
      assert.deepEqual(rig.pool.aborted, [`${run}/late`]);
      assert.deepEqual(rig.note(run).late, ['late']);
      rig.result(`${run}/late`, 'what was done by then');
      await rig.settle();
      assert.deepEqual(await rig.states(run), [
        'early success done',
        'late cancelled flow-timed-out',
        'last cancelled flow-timed-out',
      ]);
      const { state, error } = rig.view(run)!;
      assert.deepEqual([state, error?.code], ['failed', 'timeout']);
      assert.match(error!.message, /longer than its timeout, with step late not over/);
      await rig.again(run);
      assert.deepEqual(rig.held, ['late']);
    });

    test('the timeout of a flow', async (t) => {
      const rig = rigOf(t, kind, { flows: [flowDefinition(CHAIN, { timeoutMs: 60_000 })] });
      const run = await rig.start();
      await rig.clock.advance(59_000);
      assert.deepEqual(rig.pool.aborted, []);
      await rig.clock.advance(2000);
      await rig.settle();
      rig.finish(`${run}/pull`, { status: 'cancelled' });
      await rig.settle();
      assert.equal(rig.view(run)?.error?.code, 'timeout');
    });
  });
}

test('a flow whose steps were over in time has not timed out, however long no daemon was there to see it', async (t) => {
  const rig = rigOf(t, 'sqlite', {
    flows: [flowDefinition([step('only')], { timeoutMs: 60_000 })],
    isLost: () => true,
  });
  const run = await rig.start();
  rig.finish(`${run}/only`);
  await rig.settle();
  assert.equal(rig.view(run)?.state, 'running');
  await rig.flows.destroy();
  await rig.clock.advance(90_000);
  await rig.crash();
  assert.equal(rig.view(run)?.state, 'success');
});

test('a flow whose timeout passed while no daemon was there begins no step more', async (t) => {
  const rig = rigOf(t, 'sqlite', {
    flows: [flowDefinition(CHAIN, { timeoutMs: 60_000 })],
    isLost: () => true,
  });
  const run = await rig.start();
  rig.finish(`${run}/pull`);
  await rig.settle();
  await rig.flows.destroy();
  await rig.clock.advance(90_000);
  await rig.crash();
  assert.equal(rig.view(run)?.error?.code, 'timeout');
  assert.ok(!rig.pool.taken.some(({ run: taken }) => taken.endsWith('/check')));
});
