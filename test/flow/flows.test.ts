/** Flows with their runs and a store: what is started, what is kept, what a daemon after takes up. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeAnswer, taskSpec } from '../runs/runs-setup.ts';
import { journalFile } from '../store/sqlite-journal.ts';
import type { HasAfter } from '../support/temp-dir.ts';
import { FlowsRig, flowDefinition, type RigOptions, stepDefinition as step } from './flows-rig.ts';

const CHAIN = [
  step('pull'),
  step('check', { dependsOn: ['pull'] }),
  step('sum', {
    dependsOn: ['check'],
    with: { total: '{{ steps.pull.result.total }}', day: '{{ payload.day }}' },
  }),
];

function rigOf(t: HasAfter, kind: 'memory' | 'sqlite', options: Partial<RigOptions> = {}): FlowsRig {
  const file = kind === 'memory' ? null : journalFile(t);
  const rig = new FlowsRig({ flows: [flowDefinition(CHAIN)], file, ...options });
  t.after(() => rig.close());
  return rig;
}

for (const kind of ['memory', 'sqlite'] as const) {
  describe(`flows: ${kind}`, () => {
    test('steps run one after the other, with results of those before', async (t) => {
      const rig = rigOf(t, kind);
      const run = await rig.start('f', { day: 'Monday' });
      assert.deepEqual(rig.held, ['pull']);
      rig.result(`${run}/pull`, { total: 7 });
      await rig.settle();
      assert.deepEqual(rig.held, ['check']);
      assert.deepEqual(await rig.states(run), ['pull success done', 'check running', 'sum pending']);
      rig.finish(`${run}/check`);
      await rig.settle();
      assert.deepEqual(rig.pool.taken.at(-1)?.input, '{"total":7,"day":"Monday"}');
      rig.finish(`${run}/sum`);
      await rig.settle();
      assert.equal(rig.view(run)?.state, 'success');
      assert.deepEqual(await rig.states(run), [
        'pull success done',
        'check success done',
        'sum success done',
      ]);
      assert.equal(rig.flows.active, 0);
    });

    test('a step that runs after a failure has null for what is not there, any other fails', async (t) => {
      const given = {
        good: '{{ steps.good.result }}',
        bad: '{{ steps.bad.result[0].id }}',
        by: ['{{ steps.good.run }}', '{{ steps.bad.run }}'],
      };
      const rig = rigOf(t, kind, {
        flows: [
          flowDefinition([
            step('good'),
            // What came of it is no result for anybody.
            step('bad', { expect: { min_rows: 2 } }),
            step('clean', { dependsOn: ['good', 'bad'], onUpstreamFailure: 'run', with: given }),
            step('after', { dependsOn: ['clean'], with: given }),
          ]),
        ],
      });
      const run = await rig.start();
      rig.result(`${run}/good`, 7);
      rig.result(`${run}/bad`, [{ id: 1 }]);
      await rig.settle();
      assert.equal(rig.pool.taken.at(-1)?.input, `{"good":7,"bad":null,"by":["${run}/good",null]}`);
      rig.finish(`${run}/clean`);
      await rig.settle();
      const { steps } = await rig.show(run);
      assert.deepEqual(
        steps?.map(({ state, reason }) => [state, reason].join(' ')),
        ['success done', 'failed not-expected', 'success done', 'failed no-input'],
      );
      assert.match(steps?.at(-1)?.detail ?? '', /expected a value at steps.bad.result\[0\].id, got no /);
    });

    test('a failed step skips what is behind it, and the flow has failed; its failure task runs', async (t) => {
      const onFailure = {
        task: 'tell',
        with: { run: '{{ flow.run }}', of: '{{ flow.failed_step }}', why: '! {{ flow.error }}' },
      };
      const rig = rigOf(t, kind, { flows: [flowDefinition(CHAIN, { onFailure })] });
      const run = await rig.start();
      rig.fail(`${run}/pull`);
      await rig.settle();
      assert.equal(rig.view(run)?.state, 'failed');
      assert.deepEqual(rig.view(run)?.error, {
        code: 'flow-failed',
        message: 'step pull failed: no luck',
        cause: { code: 'handler-failed', message: 'no luck' },
      });
      assert.equal((await rig.show(run)).end, 'failed: step pull failed: no luck');
      assert.deepEqual(await rig.states(run), [
        'pull failed run-failed',
        'check skipped upstream',
        'sum skipped upstream',
      ]);
      assert.deepEqual(
        rig.pool.taken.at(-1)?.input,
        JSON.stringify({ run, of: 'pull', why: '! step pull failed: no luck' }),
      );
      assert.deepEqual(rig.held, [':on_failure']);
      assert.deepEqual(
        rig.runs.deadLetters
          .list({ task: null, sinceMs: null, untilMs: null, limit: 9 })
          .map((letter) => letter.run),
        [run],
      );
    });

    test('a cancel ends what runs and begins nothing more', async (t) => {
      const rig = rigOf(t, kind);
      const run = await rig.start();
      rig.runs.cancel(run);
      await rig.settle();
      assert.deepEqual(rig.pool.aborted, [`${run}/pull`]);
      rig.finish(`${run}/pull`, { status: 'cancelled' });
      await rig.settle();
      assert.equal(rig.view(run)?.state, 'cancelled');
      assert.deepEqual(await rig.states(run), [
        'pull cancelled flow-cancelled',
        'check cancelled flow-cancelled',
        'sum cancelled flow-cancelled',
      ]);
    });

    test('a list has a run for each item, so many at a time', async (t) => {
      const each = { list: '{{ steps.pull.result }}', concurrency: 2, onFailure: 'continue' } as const;
      const steps = [step('pull'), step('one', { dependsOn: ['pull'], each, with: { id: '{{ item.id }}' } })];
      const rig = rigOf(t, kind, { flows: [flowDefinition(steps)] });
      const run = await rig.start();
      rig.result(`${run}/pull`, [{ id: 5 }, { id: 6 }, { id: 7 }]);
      await rig.settle();
      assert.deepEqual(rig.held, ['one[0]', 'one[1]']);
      assert.equal(rig.pool.taken.at(-1)?.input, '{"id":6}');
      rig.fail(`${run}/one[1]`);
      await rig.settle();
      assert.deepEqual(rig.held, ['one[0]', 'one[2]']);
      rig.finish(`${run}/one[2]`);
      rig.finish(`${run}/one[0]`);
      await rig.settle();
      assert.deepEqual(await rig.states(run), ['pull success done', 'one failed item-failed']);
    });

    test('what cannot be put together fails its step', async (t) => {
      const rig = rigOf(t, kind);
      const run = await rig.start();
      rig.result(`${run}/pull`, { total: 7 });
      await rig.settle();
      rig.finish(`${run}/check`);
      await rig.settle();
      const { steps } = await rig.show(run);
      assert.deepEqual(
        steps?.at(-1)?.detail,
        'expected a value at payload.day, got an empty object at payload',
      );
      assert.equal(steps?.at(-1)?.reason, 'no-input');
    });

    test('a result that is not as expected fails its step', async (t) => {
      const expect = { min_rows: 1, max_change_percent: 50 };
      const steps = [step('pull', { expect }), step('sum', { dependsOn: ['pull'] })];
      const rig = rigOf(t, kind, { flows: [flowDefinition(steps)] });
      const runs: string[] = [];
      for (const rows of [10, 12, 30, 0]) {
        const run = await rig.start();
        runs.push(run);
        rig.result(`${run}/pull`, new Array(rows).fill(1));
        await rig.settle();
        if (rig.held.includes('sum')) rig.finish(`${run}/sum`);
        await rig.settle();
      }
      assert.deepEqual(
        runs.map((run) => rig.view(run)?.state),
        ['success', 'success', 'failed', 'failed'],
      );
      const [shown] = (await rig.show(runs[2]!)).steps!;
      assert.match(shown!.detail!, /from the 12 rows of the last good run, got 30 rows/);
    });

    test('again: not while it goes on, nor what is no flow or has nothing that failed', async (t) => {
      const rig = rigOf(t, kind);
      const run = await rig.start('f', { day: 'Monday' });
      const refused = async (id: string): Promise<unknown> => {
        const answer = new FakeAnswer();
        await rig.flows.rerun({ run: id, choice: { kind: 'failed' } }, answer);
        return (answer.error as { code: string } | undefined)?.code;
      };
      assert.equal(await refused(run), 'rerun-refused');
      assert.equal(await refused(`${run}/pull`), 'no-such-run');
      assert.equal(await refused('f@nope'), 'no-such-run');
      for (const step of ['pull', 'check', 'sum']) {
        rig.result(`${run}/${step}`, { total: 9 });
        await rig.settle();
      }
      assert.equal(rig.view(run)?.state ?? 'success', 'success');
      assert.equal(await refused(run), 'rerun-refused');
    });

    test('again: failed steps only, with results of before', async (t) => {
      const rig = rigOf(t, kind);
      const first = await rig.start('f', { day: 'Monday' });
      rig.result(`${first}/pull`, { total: 9 });
      await rig.settle();
      rig.fail(`${first}/check`);
      await rig.settle();
      const answer = new FakeAnswer();
      await rig.flows.rerun({ run: first, choice: { kind: 'failed' } }, answer);
      await rig.settle();
      const second = (answer.value as { run: string }).run;
      assert.deepEqual(rig.held, ['check']);
      rig.finish(`${second}/check`);
      await rig.settle();
      assert.equal(rig.pool.taken.at(-1)?.input, '{"total":9,"day":"Monday"}');
      rig.finish(`${second}/sum`);
      await rig.settle();
      assert.deepEqual(await rig.states(second), [
        'pull success taken-over',
        'check success done',
        'sum success done',
      ]);
    });

    test('overlap is that of the flow, not of the tasks', async (t) => {
      const rig = rigOf(t, kind);
      const run = await rig.start();
      const second = rig.trigger();
      await rig.settle();
      assert.match(String(second.error), /overlap is skip/);
      assert.deepEqual(rig.held, ['pull']);
      rig.fail(`${run}/pull`);
    });

    test('flows end although the ready queue is full of others', async (t) => {
      const rig = rigOf(t, kind, { overlap: 'allow', ready: 4, slots: 1 });
      for (let n = 0; n < 30; n++) rig.trigger('f', { day: 'x' });
      await rig.settle();
      for (let n = 0; n < 400 && rig.pool.held.size > 0; n++) {
        for (const run of rig.pool.held.keys()) rig.result(run, { total: 1 });
        await rig.clock.advance(0);
        await rig.clock.advance(0);
      }
      assert.equal(rig.runs.figures.unfinished, 0);
    });

    test('steps that come again do so although the ready queue is full of flows; meanwhile they are in nobody’s way', async (t) => {
      const tasks = ['pull', 'check', 'sum'].map((name) => taskSpec({ name, maxRetry: 1 }));
      const rig = rigOf(t, kind, { overlap: 'allow', ready: 4, tasks, budgetBytes: 4_000_000 });
      for (let n = 0; n < 120; n++) rig.trigger('f', { day: 'x' });
      await rig.settle();
      const firsts = [...rig.pool.held.keys()];
      const error = { code: 'handler-failed', message: 'no luck' } as const;
      for (const run of firsts) rig.finish(run, { status: 'failed', error, retryable: true });
      assert.ok(firsts.length >= 32, `${firsts.length} steps were let in`);
      const play = async (): Promise<void> => {
        await rig.settle();
        while (rig.pool.held.size > 0) {
          for (const run of [...rig.pool.held.keys()]) rig.result(run, { total: 1 });
          await rig.settle();
        }
      };
      await play();
      assert.equal(
        rig.runs.figures.unfinished,
        2 * firsts.length,
        'only the flows are left that wait for a retry',
      );
      for (let n = 0; n < 120; n++) rig.trigger('f', { day: 'x' });
      await rig.settle();
      assert.ok(rig.runs.figures.queues()[0]!.depth >= 4, 'the queue is full again');
      await rig.clock.advance(10_000);
      await rig.settle();
      assert.deepEqual(
        firsts.filter((run) => !rig.pool.held.has(run)),
        [],
      );
      for (const run of firsts) rig.finish(run, { status: 'interrupted' });
      await rig.settle();
      assert.deepEqual(
        firsts.filter((run) => !rig.pool.held.has(run)),
        [],
      );
      await play();
      assert.equal(rig.runs.figures.unfinished, 0);
    });

    test('a bound over all runs holds back steps, and no flow that waits for them', async (t) => {
      const rig = rigOf(t, kind, { overlap: 'allow', concurrency: 1 });
      for (let n = 0; n < 3; n++) rig.trigger('f', { day: 'x' });
      await rig.settle();
      assert.deepEqual([rig.flows.active, rig.held], [3, ['pull']]);
      for (let n = 0; n < 9; n++) {
        const [run] = rig.pool.held.keys();
        rig.result(run!, { total: 1 });
        await rig.settle();
      }
      assert.equal(rig.runs.figures.unfinished, 0);
    });

    test('more flows than may live wait in the ready queue, and come to their end', async (t) => {
      const rig = rigOf(t, kind, { overlap: 'allow', budgetBytes: 4_000_000, slots: 1000 });
      for (let n = 0; n < 150; n++) rig.trigger('f', { day: 'x' });
      await rig.settle();
      assert.deepEqual([rig.flows.active, rig.held.length], [100, 100]);
      for (let n = 0; n < 50 && rig.pool.held.size > 0; n++) {
        for (const run of rig.pool.held.keys()) rig.result(run, { total: 1 });
        await rig.settle();
      }
      assert.equal(rig.runs.figures.unfinished, 0);
    });

    test('an event that is lost is made good by the sweep', async (t) => {
      let lossy = true;
      const rig = rigOf(t, kind, { isLost: () => lossy });
      const run = await rig.start('f', { day: 'x' });
      rig.result(`${run}/pull`, { total: 1 });
      await rig.settle();
      assert.deepEqual(rig.held, []);
      lossy = false;
      await rig.clock.advance(30_000);
      await rig.settle();
      assert.deepEqual(rig.held, ['check']);
    });
  });
}

test('a daemon after goes on with a flow where it stood', async (t) => {
  const rig = rigOf(t, 'sqlite');
  const run = await rig.start('f', { day: 'Monday' });
  rig.result(`${run}/pull`, { total: 3 });
  await rig.settle();
  await rig.crash();
  assert.deepEqual(rig.held, ['check'], 'interrupted, and run again');
  assert.equal(rig.pool.taken[0]?.attempt, 2);
  rig.finish(`${run}/check`);
  await rig.settle();
  await rig.crash();
  assert.equal(rig.pool.taken.at(-1)?.input, '{"total":3,"day":"Monday"}');
  rig.finish(`${run}/sum`);
  await rig.settle();
  assert.equal(rig.view(run)?.state, 'success');
  assert.deepEqual(await rig.states(run), ['pull success done', 'check success done', 'sum success done']);
});

test('a flow that was being stopped stays so', async (t) => {
  const rig = rigOf(t, 'sqlite');
  const run = await rig.start();
  rig.runs.cancel(run);
  await rig.settle();
  await rig.crash();
  assert.deepEqual(rig.pool.aborted, [`${run}/pull`]);
  rig.finish(`${run}/pull`, { status: 'cancelled' });
  await rig.settle();
  assert.equal(rig.view(run)?.state, 'cancelled');
});

test('a daemon whose config has no such step any more ends its run, and one that has more begins them', async (t) => {
  const rig = rigOf(t, 'sqlite');
  const run = await rig.start('f', { day: 'x' });
  await rig.crash([flowDefinition([step('pull'), step('more', { dependsOn: ['pull'] })])]);
  rig.finish(`${run}/pull`);
  await rig.settle();
  assert.deepEqual(rig.held, ['more']);
  rig.finish(`${run}/more`);
  await rig.settle();
  assert.equal(rig.view(run)?.state, 'success');
});

test('the run of a step that is gone from the config, with its task, is cancelled; the flow goes on without it', async (t) => {
  const rig = rigOf(t, 'sqlite');
  const run = await rig.start('f', { day: 'x' });
  rig.result(`${run}/pull`, { total: 1 });
  await rig.settle();
  assert.deepEqual(rig.held, ['check']);
  await rig.crash([flowDefinition([step('pull'), step('sum', { dependsOn: ['pull'] })])]);
  assert.equal(rig.view(`${run}/check`)?.state, 'cancelled');
  assert.deepEqual(rig.held, ['sum']);
  rig.finish(`${run}/sum`);
  await rig.settle();
  assert.equal(rig.view(run)?.state, 'success');
  assert.equal(rig.runs.figures.unfinished, 0);
});

test('a flow that is gone from the config is kept, and goes on when it is there again', async (t) => {
  const rig = rigOf(t, 'sqlite');
  const run = await rig.start('f', { day: 'x' });
  rig.result(`${run}/pull`, { total: 1 });
  await rig.settle();
  await rig.crash([flowDefinition(CHAIN, { name: 'other' })]);
  assert.equal(rig.view(run)?.state, 'orphaned');
  rig.finish(`${run}/check`);
  await rig.settle();
  await rig.crash([flowDefinition(CHAIN)]);
  assert.deepEqual(rig.held, ['sum']);
  rig.finish(`${run}/sum`);
  await rig.settle();
  assert.equal(rig.view(run)?.state, 'success');
});

test('a step of a higher priority goes first, also after a restart; without one it has that of its task', async (t) => {
  const limits = { timeoutMs: 9000, maxRetry: 0, backoff: { kind: 'scaled', baseMs: 1, capMs: 1 } } as const;
  const steps = [
    step('first'),
    step('low', { limits: { ...limits, priority: -5 } }),
    step('plain'),
    step('high', { limits: { ...limits, priority: 5 } }),
  ];
  const rig = rigOf(t, 'sqlite', { flows: [flowDefinition(steps)], slots: 1 });
  const run = await rig.start();
  const order: string[] = [];
  for (let at = 0; at < 4; at++) {
    order.push(...rig.held);
    rig.finish(`${run}/${rig.held[0]}`);
    await rig.settle();
    if (at === 1) await rig.crash();
  }
  assert.deepEqual(order, ['first', 'high', 'plain', 'low']);
});

test('what live flows hold is counted, is nothing when they are over, and keeps others from beginning', async (t) => {
  const steps = [
    step('pull'),
    step('one', {
      dependsOn: ['pull'],
      each: { list: '{{ steps.pull.result }}', concurrency: 1, onFailure: 'stop' },
      with: { item: '{{ item }}' },
    }),
  ];
  const budgetBytes = 20 * 10_000;
  const rig = rigOf(t, 'memory', { flows: [flowDefinition(steps)], overlap: 'allow', budgetBytes });
  const limit = budgetBytes / 20;
  const first = await rig.start('f', { text: 'x'.repeat(10_000) });
  assert.ok(rig.flows.heldBytes > 10_000);
  const second = await rig.start();
  assert.deepEqual([rig.flows.active, rig.view(second)?.state], [1, 'ready'], 'no room for a second one');
  const before = rig.flows.heldBytes;
  rig.result(`${first}/pull`, ['y'.repeat(30_000)]);
  await rig.settle();
  assert.ok(rig.flows.heldBytes > before + 20_000, 'its list is counted');
  rig.finish(`${first}/one[0]`);
  await rig.settle();
  assert.deepEqual([rig.view(first)?.state, rig.view(second)?.state], ['success', 'running']);
  const small = rig.flows.heldBytes;
  assert.ok(small > 0 && small < limit);
  for (let more = 0; more < 20; more++) await rig.start();
  assert.ok(rig.flows.active > 2 && rig.flows.heldBytes < limit + 2 * small, `${rig.flows.active}`);
  while (rig.pool.held.size > 0) {
    for (const run of [...rig.pool.held.keys()]) rig.result(run, []);
    await rig.settle();
  }
  assert.deepEqual([rig.flows.active, rig.flows.heldBytes], [0, 0]);
});

test('counts: live flows, and steps as this daemon saw them end', async (t) => {
  const rig = rigOf(t, 'sqlite', { overlap: 'allow' });
  const none = { success: 0, failed: 0, skipped: 0, cancelled: 0 };
  assert.deepEqual(rig.flows.counts(), [{ name: 'f', live: 0, steps: none }]);
  const first = await rig.start('f', { day: 'Monday' });
  const second = await rig.start();
  rig.result(`${first}/pull`, { total: 1 });
  rig.fail(`${second}/pull`);
  await rig.settle();
  assert.deepEqual(rig.flows.counts(), [
    { name: 'f', live: 1, steps: { success: 1, failed: 1, skipped: 2, cancelled: 0 } },
  ]);
  await rig.crash();
  assert.deepEqual(rig.flows.counts(), [{ name: 'f', live: 1, steps: none }], 'not counted again');
  rig.finish(`${first}/check`);
  await rig.settle();
  rig.runs.cancel(first);
  await rig.settle();
  rig.finish(`${first}/sum`, { status: 'cancelled' });
  await rig.settle();
  assert.deepEqual(rig.flows.counts()[0]?.live, 0);
  const { success, failed, skipped, cancelled } = rig.flows.counts()[0]!.steps;
  assert.deepEqual([success, failed + skipped + cancelled], [1, 1]);
});
