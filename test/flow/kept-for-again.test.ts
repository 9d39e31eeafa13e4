/** Flows that run again, and what is kept for that. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeAnswer } from '../runs/runs-setup.ts';
import { journalFile } from '../store/sqlite-journal.ts';
import { FlowsRig, flowDefinition, type RigOptions, stepDefinition as step } from './flows-rig.ts';

type Again = Record<'forgotten' | 'againBehind', unknown> & { readonly run: string };

const STEPS = [
  step('pull'),
  step('check', { dependsOn: ['pull'] }),
  step('sum', { dependsOn: ['check'], with: { day: '{{ steps.pull.result.day }}' } }),
];

for (const kind of ['memory', 'sqlite'] as const) {
  const inEach = (
    title: string,
    run: (make: (options: Omit<RigOptions, 'file'>) => FlowsRig) => Promise<void>,
  ) =>
    test(`${title}: store ${kind}`, (t) =>
      run((options) => {
        const rig = new FlowsRig({ ...options, file: kind === 'sqlite' ? journalFile(t) : null });
        t.after(() => rig.close());
        return rig;
      }));

  const rigOf = (make: (options: Omit<RigOptions, 'file'>) => FlowsRig) => {
    const rig = make({
      flows: [flowDefinition(STEPS), flowDefinition([step('noise')], { name: 'g' })],
      overlap: 'queue-all',
      retention: { results: 1 },
    });
    /** Then the newest result is one of another flow. */
    const noise = async () => {
      const other = await rig.start('g');
      rig.result(`${other}/noise`, 'n');
      await rig.told();
      assert.equal(rig.store.results([`${other}/noise`])[0], '"n"', 'it is the newest');
    };
    /** Of which `pull` has a result, and `check` failed. */
    const failed = async () => {
      const run = await rig.start();
      rig.result(`${run}/pull`, { day: 3 });
      await rig.settle();
      rig.fail(`${run}/check`);
      await rig.told();
      return run;
    };
    /** Its `sum` gets what the earlier `pull` gave. */
    const goesOn = async (run: string) => {
      rig.finish(`${run}/check`);
      await rig.settle();
      assert.deepEqual(rig.held, ['sum']);
      assert.deepEqual(JSON.parse(rig.pool.held.get(`${run}/sum`)!.input), { day: 3 });
      rig.fail(`${run}/sum`);
      await rig.told();
    };
    return { rig, noise, failed, goesOn };
  };

  inEach('each of several runs again has the results that it takes over', async (make) => {
    const { rig, noise, failed, goesOn } = rigOf(make);
    const first = await failed();
    const second = await rig.again(first);
    assert.equal((await rig.show(second)).againOf, first);
    const third = await rig.again(first);
    assert.equal(rig.view(third)?.state, 'pending', 'it waits for the one before');
    for (const run of [second, third]) {
      await noise();
      await goesOn(run);
    }
    await noise();
    assert.deepEqual(rig.store.results([`${first}/pull`]), [null], 'nobody holds it any more');
  });

  inEach('a run again that waits in a queue holds what it takes over', async (make) => {
    const { rig, noise, failed, goesOn } = rigOf(make);
    const first = await failed();
    const other = await rig.start();
    const again = await rig.again(first);
    assert.equal(rig.view(again)?.state, 'pending');
    await noise();
    rig.fail(`${other}/pull`);
    await rig.told();
    await goesOn(again);
  });

  inEach('where what it took over is gone all the same, its step fails and says so', async (make) => {
    const cleans = step('clean', {
      dependsOn: ['pull', 'check'],
      onUpstreamFailure: 'run',
      with: { day: '{{ steps.pull.result.day }}' },
    });
    const rig = make({ flows: [flowDefinition([step('pull'), step('check'), cleans])] });
    const run = await rig.start();
    rig.result(`${run}/pull`, { day: 3 });
    rig.store.results = (runs) => runs.map(() => null);
    await rig.told();
    rig.fail(`${run}/check`);
    await rig.told();
    const clean = (await rig.show(run)).steps![2]!;
    assert.deepEqual([clean.state, clean.reason], ['failed', 'no-input']);
    assert.match(clean.detail!, /^expected the result of step pull, got one that is forgotten; run the flow/);
  });

  inEach('what had succeeded and runs again as a step before it is made anew is named', async (make) => {
    const each = { list: '{{ payload.items }}', concurrency: 50, onFailure: 'continue' } as const;
    const rig = make({
      flows: [
        flowDefinition([
          step('pull'),
          step('check', { dependsOn: ['pull'] }),
          step('mail', { dependsOn: ['check'], each }),
          step('some', { dependsOn: ['check'], each }),
          step('sum', { dependsOn: ['check'], with: { day: '{{ steps.pull.result.day }}' } }),
          step('tell', { dependsOn: ['sum'] }),
        ]),
        flowDefinition([step('noise')], { name: 'g' }),
      ],
      retention: { results: 1 },
    });
    const first = await rig.start('f', { items: [0, 1, 2] });
    rig.result(`${first}/pull`, { day: 3 });
    await rig.settle();
    rig.finish(`${first}/check`);
    await rig.settle();
    rig.fail(`${first}/some[1]`);
    for (const run of [...rig.pool.held.keys()]) rig.finish(run);
    await rig.settle();
    rig.finish(`${first}/tell`);
    await rig.told();
    const other = await rig.start('g');
    rig.result(`${other}/noise`, 'n');
    await rig.told();
    const answer = new FakeAnswer();
    await rig.flows.rerun({ run: first, choice: { kind: 'step', step: 'sum' } }, answer);
    await rig.settle();
    const { run, forgotten, againBehind } = answer.value as Again;
    // `sum` was named, and `tell` is behind it: these run again by the choice alone.
    assert.deepEqual(forgotten, [{ step: 'pull', results: 1 }]);
    assert.deepEqual(againBehind, [
      { step: 'check', items: null, behind: 'pull' },
      { step: 'mail', items: 3, behind: 'pull' },
      { step: 'some', items: 2, behind: 'pull' },
    ]);
    const behind = async () => (await rig.show(run)).steps!.map((one) => one.againBehind);
    assert.deepEqual(await behind(), [null, 'pull', 'pull', 'pull', null, null]);
    rig.fail(`${run}/pull`);
    await rig.told();
    assert.deepEqual(await behind(), [null, 'pull', 'pull', 'pull', null, null], 'also when it is over');
  });

  inEach('what a step gave is there for a run again, however many items came after it', async (make) => {
    const each = { list: '{{ payload.items }}', concurrency: 50, onFailure: 'continue' } as const;
    const rig = make({
      flows: [
        flowDefinition([
          step('pull'),
          step('one', { dependsOn: ['pull'], each }),
          step('sum', { dependsOn: ['one'], with: { day: '{{ steps.pull.result.day }}' } }),
        ]),
      ],
      retention: { runs: 20, results: 10 },
    });
    const first = await rig.start('f', { items: Array.from({ length: 50 }, (_, item) => item) });
    rig.result(`${first}/pull`, { day: 3 });
    await rig.clock.advance(10);
    for (const run of [...rig.pool.held.keys()]) rig.finish(run);
    await rig.clock.advance(10);
    await rig.settle();
    rig.fail(`${first}/sum`);
    await rig.told();
    const again = await rig.again(first);
    assert.deepEqual(rig.held, ['sum']);
    assert.deepEqual(await rig.states(again), [
      'pull success taken-over',
      'one success taken-over',
      'sum running',
    ]);
    assert.deepEqual(JSON.parse(rig.pool.held.get(`${again}/sum`)!.input), { day: 3 });
  });
}
