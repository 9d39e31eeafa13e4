/** Daemons whose config has other steps before those that have begun: what has begun goes on, and nothing runs twice. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { journalFile } from '../store/sqlite-journal.ts';
import type { HasAfter } from '../support/temp-dir.ts';
import { FlowsRig, flowDefinition, stepDefinition as step } from './flows-rig.ts';

const given = { total: '{{ steps.pull.result }}' };
const each = { list: '{{ payload.items }}', concurrency: 2, onFailure: 'stop' } as const;
/** `sum` and `one` run beside each other; `last` waits for both. */
const behind = [
  step('sum', { dependsOn: ['pull'], with: given }),
  step('one', { dependsOn: ['pull'], each }),
  step('tell', { dependsOn: ['pull', 'ask'] }),
  step('last', { dependsOn: ['sum', 'one'] }),
];
const before = [flowDefinition([step('ask'), step('pull'), ...behind])];
const after = [
  flowDefinition([step('ask'), step('fresh'), step('pull', { dependsOn: ['fresh'] }), ...behind]),
];

interface Begun {
  readonly rig: FlowsRig;
  readonly run: string;
  readonly next: () => Promise<void>;
}

for (const [name, crashes] of [
  ['', 0],
  [', with more daemons in between', 1],
] as const) {
  describe(`steps that have begun before others were put before them${name}`, () => {
    async function begun(t: HasAfter): Promise<Begun> {
      const rig = new FlowsRig({ flows: before, file: journalFile(t) });
      t.after(() => rig.close());
      const run = await rig.start('f', { items: [1, 2, 3] });
      rig.result(`${run}/pull`, 7);
      await rig.settle();
      assert.deepEqual(rig.held, ['ask', 'sum', 'one[0]', 'one[1]']);
      await rig.crash(after);
      const next = async (): Promise<void> => {
        await rig.settle();
        for (let n = 0; n < crashes; n++) {
          await rig.crash();
          // Those that were cut more than once wait a little.
          await rig.clock.advance(20_000);
          await rig.settle();
        }
      };
      await rig.settle();
      assert.deepEqual(rig.held.toSorted(), ['ask', 'fresh', 'one[0]', 'one[1]', 'sum']);
      return { rig, run, next };
    }

    async function finishAll({ rig, run, next }: Begun): Promise<void> {
      while (rig.pool.held.size > 0) {
        for (const one of [...rig.pool.held.keys()]) rig.finish(one);
        await next();
      }
      assert.equal(rig.view(run)?.state, 'success');
      assert.deepEqual(
        (await rig.states(run)).filter((one) => !one.endsWith(' success done')),
        [],
      );
      const ends = rig.events.filter(({ state }) => state === 'success').map((event) => event.run);
      assert.deepEqual(ends.toSorted(), [...new Set(ends)].toSorted(), 'each of them once');
      assert.equal(ends.length, 10);
    }

    test('they are over when their turn comes', async (t) => {
      const all = await begun(t);
      const { rig, run, next } = all;
      for (const one of ['ask', 'sum', 'one[0]', 'one[1]']) rig.finish(`${run}/${one}`);
      await next();
      assert.deepEqual(rig.held, ['fresh'], 'what has not begun waits for all that is before it');
      rig.finish(`${run}/fresh`);
      await next();
      assert.deepEqual(rig.held.toSorted(), ['one[2]', 'tell'], 'pull is over, and not run again');
      await finishAll(all);
    });

    test('they still run when their turn comes', async (t) => {
      const all = await begun(t);
      const { rig, run, next } = all;
      rig.finish(`${run}/fresh`);
      await next();
      assert.deepEqual(rig.held.toSorted(), ['ask', 'one[0]', 'one[1]', 'sum']);
      await finishAll(all);
    });

    test('their turn does not come: they end with their steps, and nothing is made of what they gave', async (t) => {
      const { rig, run, next } = await begun(t);
      rig.finish(`${run}/sum`);
      await next();
      rig.fail(`${run}/fresh`);
      await rig.settle();
      assert.deepEqual(rig.pool.aborted.toSorted(), [`${run}/one[0]`, `${run}/one[1]`]);
      for (const one of ['one[0]', 'one[1]']) rig.finish(`${run}/${one}`, { status: 'cancelled' });
      rig.finish(`${run}/ask`);
      await rig.settle();
      assert.deepEqual(await rig.states(run), [
        'ask success done',
        'fresh failed run-failed',
        ...['pull', 'sum', 'one', 'tell', 'last'].map((one) => `${one} skipped upstream`),
      ]);
      assert.deepEqual([rig.runs.figures.unfinished, rig.held], [0, []]);
    });

    test('a cancel of the flow is theirs too', async (t) => {
      const { rig, run, next } = await begun(t);
      await next();
      rig.runs.cancel(run);
      await next();
      const held = [...rig.pool.held.keys()];
      assert.deepEqual(rig.pool.aborted.toSorted(), held.toSorted());
      for (const one of held) rig.finish(one, { status: 'cancelled' });
      await rig.settle();
      assert.equal(rig.view(run)?.state, 'cancelled');
      assert.deepEqual([rig.runs.figures.unfinished, rig.held], [0, []]);
    });
  });
}

test('what has failed already is put before steps that have begun: they end with their steps, whoever is behind them', async (t) => {
  const steps = (dependsOn: readonly string[]) => [
    step('ask'),
    step('sum', { dependsOn }),
    step('one', { dependsOn, each }),
    step('last', { dependsOn: ['sum', 'one'], onUpstreamFailure: 'run' }),
  ];
  const rig = new FlowsRig({ flows: [flowDefinition(steps([]))], file: journalFile(t) });
  t.after(() => rig.close());
  const run = await rig.start('f', { items: [1, 2, 3] });
  rig.fail(`${run}/ask`);
  await rig.settle();
  assert.deepEqual(rig.held.toSorted(), ['one[0]', 'one[1]', 'sum']);
  await rig.crash([flowDefinition(steps(['ask']))]);
  await rig.settle();
  const cut = ['one[0]', 'one[1]', 'sum'].map((one) => `${run}/${one}`);
  assert.deepEqual(rig.pool.aborted.toSorted(), cut);
  for (const one of cut) rig.finish(one, { status: 'cancelled' });
  rig.finish(`${run}/last`);
  await rig.settle();
  assert.deepEqual(await rig.states(run), [
    'ask failed run-failed',
    'sum skipped upstream',
    'one skipped upstream',
    'last success done',
  ]);
  assert.deepEqual([rig.runs.figures.unfinished, rig.held], [0, []]);
});
