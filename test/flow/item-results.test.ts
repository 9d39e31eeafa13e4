/** The results of the items of a list, gathered by a step behind it. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { MAX_FILLED_LENGTH } from '../../src/actors/flow/index.ts';
import {
  type FlowsRig,
  flowDefinition,
  type RigOptions,
  rigOf,
  stepDefinition as step,
} from './flows-rig.ts';

const EACH = { list: '{{ payload }}', concurrency: 3, onFailure: 'continue' } as const;

for (const kind of ['memory', 'sqlite'] as const) {
  describe(`results of items: ${kind}`, () => {
    const make = (
      t: TestContext,
      steps: Parameters<typeof flowDefinition>[0],
      more: Partial<RigOptions> = {},
    ) => rigOf(t, kind, { flows: [flowDefinition(steps)], ...more });

    /** All items of `one` end, in whatever order they are held, with what `of` gives; undefined: it fails. */
    async function finishItems(rig: FlowsRig, of: (item: number) => unknown): Promise<void> {
      for (let turn = 0; turn < 10_000; turn++) {
        const held = [...rig.pool.held.keys()].filter((run) => run.includes('/one['));
        if (held.length === 0) return;
        for (const run of held.reverse()) {
          const value = of(Number(/\[(\d+)\]/.exec(run)![1]));
          if (value === undefined) rig.fail(run);
          else rig.result(run, value);
        }
        await rig.settle();
      }
    }

    const given = (rig: FlowsRig, run: string, name = 'sum'): unknown =>
      JSON.parse(rig.pool.held.get(`${run}/${name}`)?.input ?? 'null');

    const gathers = (value: unknown, more: Parameters<typeof step>[1] = {}) => [
      step('one', { each: EACH, with: { item: '{{ item }}' } }),
      step('sum', { dependsOn: ['one'], with: { got: value }, ...more }),
    ];

    test('are in the order of the items, whatever came first, also for a daemon after', async (t) => {
      const rig = make(t, [
        ...gathers('{{ steps.one.result }}'),
        step('last', { dependsOn: ['sum'], with: { n: '{{ steps.one.result[4] }}' } }),
      ]);
      const run = await rig.start('f', [0, 1, 2, 3, 4, 5, 6]);
      await finishItems(rig, (item) => (item === 2 ? null : { item }));
      const expected = [0, 1, null, 3, 4, 5, 6].map((item) => (item === null ? null : { item }));
      assert.deepEqual(given(rig, run), { got: expected });
      if (kind === 'sqlite') {
        await rig.crash();
        assert.deepEqual(given(rig, run), { got: expected });
      }
      rig.finish(`${run}/sum`);
      await rig.settle();
      assert.deepEqual(given(rig, run, 'last'), { n: { item: 4 } });
    });

    test('one of them can be named, and one in a file be looked into', async (t) => {
      const rig = make(
        t,
        gathers({
          a: '{{ steps.one.result[1].n }}',
          b: '{{ steps.one.result[0].rows[1] }}',
          all: '{{ steps.one.run }}',
        }),
      );
      const run = await rig.start('f', [0, 1]);
      rig.fileResult(`${run}/one[0]`, { rows: [7, 8] });
      rig.result(`${run}/one[1]`, { n: 5 });
      await rig.settle();
      assert.deepEqual(given(rig, run), { got: { a: 5, b: 8, all: `${run}/one` } });
    });

    test('another step can run over that of one item, also where it lies in a file', async (t) => {
      const list = '{{ steps.one.result[0] }}';
      const each = { ...EACH, list };
      const rig = make(t, [
        step('one', { each: EACH, with: { item: '{{ item }}' } }),
        step('two', { dependsOn: ['one'], each, with: { item: '{{ item }}' } }),
      ]);
      const run = await rig.start('f', [0]);
      rig.fileResult(`${run}/one[0]`, [7, 8]);
      await rig.settle();
      assert.deepEqual(given(rig, run, 'two[1]'), { item: 8 });
    });

    test('an empty list has an empty list of results, and a way that is none says so', async (t) => {
      const rig = make(t, gathers('{{ steps.one.result }}'));
      assert.deepEqual(given(rig, await rig.start('f', [])), { got: [] });
      for (const [written, why] of [
        [
          '{{ steps.one.result[9] }}',
          'expected a value at steps.one.result[9], got a list of 2 at steps.one.result',
        ],
        [
          '{{ steps.one.result.n }}',
          'expected a value at steps.one.result.n, got a list at steps.one.result',
        ],
        [
          '{{ steps.one.result[0].m }}',
          'expected a value at steps.one.result[0].m, got an object without m at steps.one.result[0]',
        ],
      ] as const) {
        const other = make(t, gathers(written));
        const run = await other.start('f', [0, 1]);
        await finishItems(other, () => ({ n: 1 }));
        const sum = (await other.show(run)).steps![1]!;
        assert.deepEqual([sum.reason, sum.detail], ['no-input', why]);
      }
    });

    test('those of items that did not succeed are null to a step that runs all the same, and it alone', async (t) => {
      const rig = make(t, [
        ...gathers('{{ steps.one.result }}', { onUpstreamFailure: 'run' }),
        step('part', {
          dependsOn: ['one'],
          onUpstreamFailure: 'run',
          with: { got: '{{ steps.one.result[1].n }}' },
        }),
        step('behind', { dependsOn: ['sum'], with: { got: '{{ steps.one.result }}' } }),
      ]);
      const run = await rig.start('f', [0, 1, 2]);
      await finishItems(rig, (item) => (item === 1 ? undefined : { n: item }));
      assert.deepEqual(given(rig, run), { got: [{ n: 0 }, null, { n: 2 }] });
      assert.deepEqual(given(rig, run, 'part'), { got: null });
      if (kind === 'sqlite') {
        await rig.crash();
        assert.deepEqual(given(rig, run), { got: [{ n: 0 }, null, { n: 2 }] });
      }
      rig.finish(`${run}/sum`);
      await rig.settle();
      const behind = (await rig.show(run)).steps![3]!;
      assert.deepEqual(
        [behind.reason, behind.detail],
        ['no-input', 'expected a value at steps.one.result, got no steps.one.result'],
      );
    });

    test('of a list that was never known there is none, not even an empty one', async (t) => {
      const rig = make(t, gathers('{{ steps.one.result }}', { onUpstreamFailure: 'run' }));
      assert.deepEqual(given(rig, await rig.start('f', 'no list')), { got: null });
    });

    test('another step can run over them', async (t) => {
      const each = { list: '{{ steps.one.result }}', concurrency: 5, onFailure: 'stop' } as const;
      const rig = make(t, [
        ...gathers('{{ flow.run }}').slice(0, 1),
        step('two', { dependsOn: ['one'], each, with: { n: '{{ item.n }}' } }),
      ]);
      const run = await rig.start('f', [0, 1, 2]);
      await finishItems(rig, (item) => ({ n: item * 10 }));
      assert.deepEqual(rig.held.toSorted(), ['two[0]', 'two[1]', 'two[2]']);
      assert.deepEqual(given(rig, run, 'two[2]'), { n: 20 });
    });

    test('together they are no more than an input may be, and no more of them is read', async (t) => {
      const rig = make(t, gathers('{{ steps.one.result }}'));
      const run = await rig.start(
        'f',
        Array.from({ length: 60 }, (_, item) => item),
      );
      let longest = 0;
      const results = rig.store.results.bind(rig.store);
      rig.store.results = (runs, mostLength) => {
        const texts = results(runs, mostLength);
        longest = Math.max(longest, texts.join('').length);
        return texts;
      };
      await finishItems(rig, () => 'x'.repeat(10_000));
      await rig.told();
      const sum = (await rig.show(run)).steps![1]!;
      assert.equal(sum.reason, 'no-input');
      assert.match(
        sum.detail!,
        /^expected at most 262144 characters of data in an input, got more; pass a path/,
      );
      assert.ok(longest < MAX_FILLED_LENGTH + 10_100, `${longest}`);
    });
  });
}
