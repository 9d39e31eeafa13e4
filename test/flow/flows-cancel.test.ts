/** Flows that are cancelled while nobody is there to end them: the daemon stops, or their flow is not in the config. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { journalFile } from '../store/sqlite-journal.ts';
import type { HasAfter } from '../support/temp-dir.ts';
import { FlowsRig, flowDefinition, stepDefinition as step } from './flows-rig.ts';

const STEPS = [step('pull'), step('check', { dependsOn: ['pull'] }), step('sum', { dependsOn: ['check'] })];
const ANY = { task: 'f', state: null, limit: 9 } as const;

function rigOf(t: HasAfter): FlowsRig {
  const rig = new FlowsRig({ flows: [flowDefinition(STEPS)], file: journalFile(t) });
  t.after(() => rig.close());
  return rig;
}

function closeGrace(rig: FlowsRig): void {
  void rig.flows.drain();
  rig.runs.close();
}

describe('a flow that is cancelled as the daemon stops is cancelled for the next one', () => {
  /** Each gives the id of the flow. */
  const moments: Readonly<Record<string, (rig: FlowsRig) => Promise<string>>> = {
    'within the grace': async (rig) => {
      const run = await rig.start();
      closeGrace(rig);
      assert.equal(rig.runs.cancel(run), 'running');
      assert.deepEqual(rig.pool.aborted, [`${run}/pull`], 'the run of its step is told at once');
      return run;
    },
    'within the grace, and its step ends in time': async (rig) => {
      const run = await rig.start();
      closeGrace(rig);
      rig.runs.cancel(run);
      rig.finish(`${run}/pull`, { status: 'cancelled' });
      return run;
    },
    'just before': async (rig) => {
      const run = await rig.start();
      rig.runs.cancel(run);
      closeGrace(rig);
      return run;
    },
    'when it has not begun': async (rig) => {
      rig.trigger();
      closeGrace(rig);
      const [taken] = rig.runs.table.list(ANY);
      assert.equal(taken?.state, 'running');
      rig.runs.cancel(taken.run);
      return taken.run;
    },
  };
  for (const [name, cancelled] of Object.entries(moments)) {
    test(name, async (t) => {
      const rig = rigOf(t);
      const run = await cancelled(rig);
      await rig.settle();
      await rig.crash();
      for (const one of [...rig.pool.held.keys()]) {
        assert.ok(rig.pool.aborted.includes(one), `${one} is cancelled`);
        rig.finish(one, { status: 'cancelled' });
      }
      await rig.settle();
      assert.equal(rig.view(run)?.state, 'cancelled');
      for (const state of await rig.states(run)) assert.match(state, / cancelled flow-cancelled$/);
      assert.deepEqual([rig.runs.figures.unfinished, rig.held], [0, []]);
    });
  }
});

describe('a flow that is gone from the config is cancelled with the runs of its steps', () => {
  for (const [name, steps] of Object.entries({
    'which go on without it': STEPS,
    'whose tasks are gone too': [step('other')],
  })) {
    test(name, async (t) => {
      const rig = rigOf(t);
      const run = await rig.start();
      rig.finish(`${run}/pull`);
      await rig.settle();
      await rig.crash([flowDefinition(steps, { name: 'another' })]);
      assert.equal(rig.view(run)?.state, 'orphaned');
      rig.runs.cancel(run);
      await rig.settle();
      for (const one of [...rig.pool.held.keys()]) {
        assert.ok(rig.pool.aborted.includes(one), `${one} is cancelled`);
        rig.finish(one, { status: 'cancelled' });
      }
      await rig.settle();
      assert.deepEqual(
        ['', '/pull', '/check'].map((end) => rig.view(run + end)?.state),
        ['cancelled', 'success', 'cancelled'],
      );
      assert.deepEqual([rig.runs.figures.unfinished, rig.held], [0, []]);
    });
  }
});
