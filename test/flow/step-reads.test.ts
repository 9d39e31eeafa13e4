/** What the inputs of a step are made of is read once for all of its items, and counted as long as it is held. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { FakeAnswer } from '../runs/runs-setup.ts';
import { journalFile } from '../store/sqlite-journal.ts';
import { FlowsRig, flowDefinition, type RigOptions, stepDefinition as step } from './flows-rig.ts';

/** The `with:` of items, and how many of a list of 40 have a run. */
const INPUTS = {
  'their item alone': { with: { item: '{{ item }}' }, runs: 40 },
  'no input': { with: null, runs: 40 },
  'a result in the journal': { with: { item: '{{ item }}', all: '{{ steps.small.result }}' }, runs: 40 },
  'a part of a result in a file': {
    with: { item: '{{ item }}', part: '{{ steps.large.result.part }}' },
    runs: 40,
  },
  'what is not there': { with: { part: '{{ steps.large.result.gone }}' }, runs: 0 },
} as const;

function rigOf(t: TestContext, input: unknown, more: Partial<RigOptions> = {}): FlowsRig {
  const each = { list: '{{ steps.pull.result.rows }}', concurrency: 7, onFailure: 'continue' } as const;
  const dependsOn = ['pull', 'small', 'large'];
  const steps = [
    step('pull'),
    step('small'),
    step('large'),
    step('one', { dependsOn, each, with: input }),
    step('end', { dependsOn: ['one'] }),
  ];
  const rig = new FlowsRig({ flows: [flowDefinition(steps)], file: journalFile(t), ...more });
  t.after(() => rig.close());
  return rig;
}

async function listed(rig: FlowsRig, items: number): Promise<string> {
  const run = await rig.start();
  rig.result(`${run}/small`, 'x'.repeat(50_000));
  rig.fileResult(`${run}/large`, { part: 'y'.repeat(50_000) });
  rig.result(`${run}/pull`, { rows: Array.from({ length: items }, (_, n) => n) });
  await rig.settle();
  return run;
}

for (const [what, input] of Object.entries(INPUTS)) {
  test(`items that are given ${what}: the questions are as many for 10 as for 40, over a restart`, async (t) => {
    const counts: number[] = [];
    for (const items of [10, 40]) {
      const rig = rigOf(t, input.with);
      await listed(rig, items);
      let runs = 0;
      for (let turn = 0; !rig.held.includes('end') && turn < 100; turn++) {
        if (turn === 0) {
          counts.push(rig.asked + rig.looks);
          await rig.crash();
        }
        for (const run of [...rig.pool.held.keys()]) {
          if (runs % 7 === 5) rig.fail(run);
          else rig.finish(run);
          runs++;
        }
        await rig.settle();
      }
      if (items === 40) assert.equal(runs, input.runs);
      counts.push(rig.asked + rig.looks);
    }
    assert.deepEqual(counts.slice(0, 2), counts.slice(2));
    assert.ok(Math.max(...counts) <= 6, `${counts}`);
  });
}

test('what was read is counted once while items wait, and is nothing when the step is over', async (t) => {
  const rig = rigOf(t, INPUTS['a result in the journal'].with, { file: null });
  const without = rigOf(t, INPUTS['their item alone'].with, { file: null });
  const run = await listed(rig, 30);
  await listed(without, 30);
  const held = rig.flows.heldBytes - without.flows.heldBytes;
  assert.ok(held > 50_000 && held < 60_000, `${held}`);
  while (!rig.held.includes('end')) {
    for (const one of [...rig.pool.held.keys()]) rig.finish(one);
    await rig.settle();
  }
  assert.ok(rig.flows.heldBytes < 5000, `${rig.flows.heldBytes}`);
  rig.finish(`${run}/end`);
  await rig.settle();
  assert.equal(rig.flows.heldBytes, 0);
});

test('what a step without a list waits for room with is counted too', async (t) => {
  const steps = [
    step('pull'),
    step('next', { dependsOn: ['pull'], with: { all: '{{ steps.pull.result }}' } }),
  ];
  const rig = rigOf(t, null, {
    flows: [flowDefinition(steps)],
    overlap: 'allow',
    slots: 1,
    ready: 1,
  });
  for (let n = 0; n < 40; n++) rig.trigger();
  await rig.settle();
  const before = rig.flows.heldBytes;
  for (let n = 0; n < 5; n++) {
    rig.result([...rig.pool.held.keys()][0]!, 'x'.repeat(50_000));
    await rig.settle();
  }
  assert.deepEqual(rig.held, ['pull']);
  const held = rig.flows.heldBytes - before;
  assert.ok(held > 250_000 && held < 260_000, `${held}`);
  while (rig.pool.held.size > 0) {
    for (const run of [...rig.pool.held.keys()]) rig.finish(run);
    await rig.settle();
  }
  assert.deepEqual([rig.runs.figures.unfinished, rig.flows.heldBytes], [0, 0]);
});

test('a step is told by which run the result is, also of an earlier run of the flow', async (t) => {
  const steps = [
    step('pull'),
    step('next', { dependsOn: ['pull'], with: { by: '{{ steps.pull.run }}' } }),
    step('after', { dependsOn: ['next'], onUpstreamFailure: 'run' }),
    step('last', { dependsOn: ['after'], with: { by: '{{ steps.next.run }}' } }),
  ];
  const rig = rigOf(t, null, { flows: [flowDefinition(steps)], overlap: 'allow' });
  const run = await rig.start();
  rig.finish(`${run}/pull`);
  await rig.settle();
  assert.equal(rig.pool.taken.at(-1)?.input, `{"by":"${run}/pull"}`);
  rig.fail(`${run}/next`);
  await rig.settle();
  rig.finish(`${run}/after`);
  await rig.settle();
  const { state, steps: shown } = { state: rig.view(run)?.state, steps: (await rig.show(run)).steps! };
  assert.deepEqual([state, shown[3]?.reason], ['failed', 'no-input']);
  assert.equal(shown[3]?.detail, 'expected a value at steps.next.run, got a step without a result');
  await rig.flows.rerun({ run, choice: { kind: 'failed' } }, new FakeAnswer());
  await rig.settle();
  assert.deepEqual(rig.held, ['next']);
  assert.equal(rig.pool.taken.at(-1)?.input, `{"by":"${run}/pull"}`);
  assert.equal(rig.asked, 0, 'neither for the choice of what is taken over, nor for the input');
});

test('what functions ask for is read once for all items of a step, and counted until it is over', async (t) => {
  const rig = rigOf(t, INPUTS['their item alone'].with, { file: null });
  const run = await listed(rig, 30);
  let reads = 0;
  const ask = (item: number, what: string) =>
    rig.flows.reads.once(`${run}/one[${item}]`, what, async () => {
      reads++;
      return JSON.stringify('z'.repeat(50_000));
    });
  const before = rig.flows.heldBytes;
  let items = 0;
  while (!rig.held.includes('end')) {
    for (const one of rig.held) {
      for (const what of ['result of a', 'input of f']) await ask(Number(/\[(\d+)\]/.exec(one)![1]), what);
      items++;
      rig.finish(`${run}/${one}`);
    }
    const held = rig.flows.heldBytes - before;
    assert.ok(held > 100_000 && held < 110_000, `${held}`);
    await rig.settle();
  }
  assert.deepEqual([items, reads], [30, 2]);
  assert.ok(rig.flows.heldBytes < 5000, `${rig.flows.heldBytes}`);
  await ask(0, 'result of a');
  await rig.flows.reads.once(`${run}/end`, 'result of a', async () => '1');
  assert.ok(rig.flows.heldBytes < 5000, 'nothing would let go of it');
  rig.finish(`${run}/end`);
  await rig.settle();
  assert.equal(rig.flows.heldBytes, 0);
});
