/** What is told of a flow that has failed: its error, and the input of the task that runs then. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { taskSpec } from '../runs/runs-setup.ts';
import { flowDefinition, rigOf, stepDefinition as step } from './flows-rig.ts';

for (const kind of ['memory', 'sqlite'] as const) {
  describe(`the failure of a flow: ${kind}`, () => {
    test('why a flow has failed stands in its error, whatever failed, and the error of that run is the cause', async (t) => {
      const each = { list: '{{ payload.list }}', concurrency: 9, onFailure: 'continue' } as const;
      const lack = { with: { day: '{{ payload.day }}' } };
      const cases: [Parameters<typeof step>[1], RegExp, string | null][] = [
        [{}, /^step a failed: no luck$/, 'no luck'],
        [
          { expect: { min_rows: 9 } },
          /^step a failed: not as expected: result: .* at least 9 rows, got 1$/,
          null,
        ],
        [
          lack,
          /^step a failed: no input: expected a value at payload.day, got an object without day at payload$/,
          null,
        ],
        [
          { each, with: { to: '{{ item.to["e mail"] }}' } },
          /^step a failed: of 3 items 3 failed; the first is a\[0\]: no input: expected a value at item.to\["e mail"\], got 1 at item$/,
          null,
        ],
        [{ each }, /^step a failed: of 3 items 2 failed; the first is a\[1\]: no one$/, 'no one'],
      ];
      for (const [more, message, cause] of cases) {
        const onFailure = { task: 'tell', with: { why: '{{ flow.error }}' } };
        const rig = rigOf(t, kind, { flows: [flowDefinition([step('a', more)], { onFailure })] });
        const run = await rig.start('f', { list: [1, 2, 3] });
        if (more?.each && !more.with) {
          rig.fail(`${run}/a[2]`);
          rig.finish(`${run}/a[1]`, {
            status: 'failed',
            error: { code: 'handler-failed', message: 'no one' },
          });
          rig.finish(`${run}/a[0]`);
        } else if (more?.expect) rig.result(`${run}/a`, [1]);
        else if (!more?.with) rig.fail(`${run}/a`);
        await rig.settle();
        const { error } = rig.view(run)!;
        assert.match(error!.message, message);
        assert.deepEqual([error?.code, error?.cause?.message ?? null], ['flow-failed', cause]);
        assert.equal(rig.pool.taken.at(-1)?.input, JSON.stringify({ why: error!.message }));
      }
    });

    test('the failure task of a flow runs whatever its template lacks, and however large the payload is', async (t) => {
      const text = 'f: {{ payload.customer.name }}, {{ payload.notes[2] }}';
      const onFailure = {
        task: 'tell',
        with: { text, whole: '{{ payload.customer }}', all: '{{ payload }}' },
      };
      const large = { customer: { name: 'x'.repeat(120_000) }, notes: [] };
      const cases: [unknown, unknown][] = [
        [null, { text: 'f: , ', whole: null, all: {} }],
        ['a text', { text: 'f: , ', whole: null, all: 'a text' }],
        [{ customer: null }, { text: 'f: , ', whole: null, all: { customer: null } }],
        [{ customer: { name: 7 } }, { text: 'f: 7, ', whole: { name: 7 }, all: { customer: { name: 7 } } }],
        [large, { text: 'f: , ', whole: null, all: null }],
      ];
      for (const [payload, input] of cases) {
        const rig = rigOf(t, kind, { flows: [flowDefinition([step('a')], { onFailure })] });
        const run = await rig.start('f', payload);
        rig.fail(`${run}/a`);
        await rig.settle();
        assert.deepEqual(rig.held, [':on_failure']);
        assert.deepEqual(JSON.parse(rig.pool.taken.at(-1)!.input), input);
      }
    });

    test('what the failure task came to is shown with its flow', async (t) => {
      const flows = [flowDefinition([step('a')], { onFailure: { task: 'tell', with: {} } })];
      const rig = rigOf(t, kind, { flows });
      const run = await rig.start();
      assert.equal((await rig.show(run)).onFailure, null);
      rig.fail(`${run}/a`);
      await rig.told();
      const shown = async () => {
        const { run: id, state, task } = (await rig.show(run)).onFailure!;
        return [id, state, task];
      };
      assert.deepEqual(await shown(), [`${run}/:on_failure`, 'running', 'tell']);
      rig.fail(`${run}/:on_failure`);
      await rig.told();
      assert.deepEqual(await shown(), [`${run}/:on_failure`, 'failed', 'tell']);
    });

    test('the error of the first step that failed is the cause, in the order of the graph', async (t) => {
      const steps = [step('a'), step('b'), step('c', { dependsOn: ['a', 'b'] })];
      const rig = rigOf(t, kind, { flows: [flowDefinition(steps)] });
      const run = await rig.start();
      for (const one of ['b', 'a']) {
        const error = {
          code: 'handler-failed',
          message: `no ${one}`,
          cause: { code: 'internal', message: 'x' },
        } as const;
        rig.finish(`${run}/${one}`, { status: 'failed', error });
        await rig.settle();
      }
      const { error } = rig.view(run)!;
      assert.equal(error?.message, 'step a failed: no a; also failed: b');
      assert.deepEqual([error?.cause?.message, error?.cause?.cause?.message], ['no a', 'x']);
    });

    test('a run that was skipped is the cause only where no step failed, whichever of them ended first', async (t) => {
      const each = { list: '{{ payload }}', concurrency: 9, onFailure: 'continue' } as const;
      const tasks = [taskSpec({ name: 'a', onInterrupted: 'skip' })];
      const gone = (message: string) =>
        ({ status: 'interrupted', error: { code: 'thread-lost', message } }) as const;
      for (const hasList of [false, true]) {
        const flow = flowDefinition([step('a', hasList ? { each } : {}), step('b')]);
        const a = hasList ? 'a[0]' : 'a';
        for (const [ends, cause] of [
          [[a], `no ${a}`],
          [[a, 'b'], hasList ? `no ${a}` : 'no luck'],
          [['b', a], hasList ? `no ${a}` : 'no luck'],
        ] as const) {
          const rig = rigOf(t, kind, { flows: [flow], tasks });
          const run = await rig.start('f', [1]);
          for (const one of ends) {
            if (one === 'b') rig.fail(`${run}/b`);
            else rig.finish(`${run}/${one}`, gone(`no ${one}`));
            await rig.settle();
          }
          if (ends.length === 1) rig.finish(`${run}/b`);
          await rig.settle();
          assert.equal(rig.view(run)?.error?.cause?.message, cause, `${ends}`);
        }
      }
    });
  });
}

test('a daemon after knows the error of a step that failed before it', async (t) => {
  const rig = rigOf(t, 'sqlite', { flows: [flowDefinition([step('a'), step('b')])] });
  const run = await rig.start();
  rig.fail(`${run}/a`);
  await rig.settle();
  await rig.crash();
  rig.finish(`${run}/b`);
  await rig.settle();
  assert.deepEqual(rig.view(run)?.error, {
    code: 'flow-failed',
    message: 'step a failed: no luck',
    cause: { code: 'handler-failed', message: 'no luck' },
  });
});
