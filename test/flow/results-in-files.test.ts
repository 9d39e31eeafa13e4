/** Steps whose results lie in files: what templates, lists and guards make of them. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { journalFile } from '../store/sqlite-journal.ts';
import type { HasAfter } from '../support/temp-dir.ts';
import { FlowsRig, flowDefinition, stepDefinition as step } from './flows-rig.ts';

type Steps = Parameters<typeof flowDefinition>[0];

for (const kind of ['memory', 'sqlite'] as const) {
  const rigOf = (t: HasAfter, steps: Steps): FlowsRig => {
    const file = kind === 'memory' ? null : journalFile(t);
    const rig = new FlowsRig({ flows: [flowDefinition(steps)], file });
    t.after(() => rig.close());
    return rig;
  };
  const behind = (input: unknown): Steps => [
    step('pull'),
    step('next', { dependsOn: ['pull'], with: input }),
  ];

  describe(`results in files: ${kind}`, () => {
    test('a whole result is its reference, a part is read, and the keys of the reference are its own', async (t) => {
      const rig = rigOf(
        t,
        behind({
          all: '{{ steps.pull.result }}',
          total: '{{ steps.pull.result.orders[1].total }}',
          file: 'at {{ steps.pull.result["$file"] }}',
          bytes: '{{ steps.pull.result["$bytes"] }}',
        }),
      );
      const run = await rig.start();
      const path = rig.fileResult(`${run}/pull`, { orders: [{ total: 1 }, { total: 7 }] });
      await rig.settle();
      assert.deepEqual(JSON.parse(rig.pool.held.get(`${run}/next`)!.input), {
        all: { $file: path, $bytes: 36 },
        total: 7,
        file: `at ${path}`,
        bytes: 36,
      });
      assert.equal(rig.looks, 1);
    });

    test('a part that is not there fails the step as it would within a result in the journal', async (t) => {
      const rig = rigOf(t, behind({ total: '{{ steps.pull.result.orders[7].total }}' }));
      const run = await rig.start();
      rig.fileResult(`${run}/pull`, { orders: [1] });
      await rig.settle();
      const [, next] = (await rig.show(run)).steps!;
      assert.deepEqual(
        [next?.reason, next?.detail],
        [
          'no-input',
          'expected a value at steps.pull.result.orders[7].total, got a list of 1 at steps.pull.result.orders',
        ],
      );
      assert.equal(rig.view(run)?.state, 'failed');
    });

    test('a part that is too large, and a file that is gone, fail the step', async (t) => {
      const rig = rigOf(t, behind({ rows: '{{ steps.pull.result.rows }}' }));
      const first = await rig.start();
      rig.fileResult(`${first}/pull`, { rows: 'x'.repeat(300_000) });
      await rig.settle();
      assert.match(
        (await rig.show(first)).steps![1]?.detail ?? '',
        /^steps\.pull\.result\.rows: expected at most 262144 characters of JSON out of a file, got 300002; .* reference to its file$/,
      );
      const second = await rig.start();
      rig.files.delete(rig.fileResult(`${second}/pull`, {}));
      await rig.settle();
      assert.deepEqual(await rig.states(second), ['pull success done', 'next failed no-input']);
    });

    test('each runs over a list in a file, which is read no more than the items that begin together need', async (t) => {
      const rig = rigOf(t, [
        step('pull'),
        step('one', {
          dependsOn: ['pull'],
          each: { list: '{{ steps.pull.result }}', concurrency: 2, onFailure: 'stop' },
          with: {
            item: '{{ item.id }}',
            first: '{{ steps.pull.result[0].id }}',
            all: '{{ steps.pull.result }}',
          },
        }),
      ]);
      const run = await rig.start();
      const path = rig.fileResult(
        `${run}/pull`,
        Array.from({ length: 20 }, (_, id) => ({ id })),
      );
      for (let item = 0; item < 20; item++) {
        await rig.settle();
        const input = JSON.parse(rig.pool.held.get(`${run}/one[${item}]`)!.input);
        assert.deepEqual([input.item, input.first, input.all.$file], [item, 0, path]);
        rig.finish(`${run}/one[${item}]`);
      }
      await rig.settle();
      assert.deepEqual(await rig.states(run), ['pull success done', 'one success done']);
      assert.ok(rig.looks <= 4, `${rig.looks}`);
    });

    test('a list that is too large is named as it is written, and a sentence that is cut says so', async (t) => {
      const key = 'k'.repeat(60);
      for (const [list, end] of [
        ['{{ steps.pull.result }}', 'reference to its file'],
        [`{{ steps.pull.result${`.${key}`.repeat(4)} }}`, '…'],
      ] as const) {
        const each = { list, concurrency: 1, onFailure: 'stop' } as const;
        const rig = rigOf(t, [step('pull'), step('one', { dependsOn: ['pull'], each })]);
        const run = await rig.start();
        const rows = ['x'.repeat(300_000)];
        rig.fileResult(`${run}/pull`, end === '…' ? { [key]: { [key]: { [key]: { [key]: rows } } } } : rows);
        await rig.settle();
        const { reason, detail } = (await rig.show(run)).steps![1]!;
        assert.equal(reason, 'no-input');
        assert.ok(detail!.startsWith(list.slice(3, 20)) && detail!.endsWith(end), detail!);
        assert.ok(detail!.length <= 300);
      }
    });

    test('a guard looks into the file: as expected, changed too much, and one that cannot be read', async (t) => {
      const expect = { rows: 'rows', min_rows: 1, max_change_percent: 50 };
      const rig = rigOf(t, [step('pull', { expect }), step('next', { dependsOn: ['pull'] })]);
      const rows = (count: number) => ({ rows: Array.from({ length: count }, () => 0) });
      const good = await rig.start();
      rig.fileResult(`${good}/pull`, rows(100));
      await rig.settle();
      assert.deepEqual(await rig.states(good), ['pull success done', 'next running']);
      rig.finish(`${good}/next`);
      await rig.settle();
      const bad = await rig.start();
      rig.fileResult(`${bad}/pull`, rows(20));
      await rig.settle();
      assert.deepEqual(await rig.states(bad), ['pull failed not-expected', 'next skipped upstream']);
      assert.match(
        (await rig.show(bad)).steps![0]?.detail ?? '',
        /from the 100 rows of the last good run, got 20 rows/,
      );
      const gone = await rig.start();
      rig.files.delete(rig.fileResult(`${gone}/pull`, rows(100)));
      await rig.settle();
      assert.deepEqual(await rig.states(gone), ['pull failed not-expected', 'next skipped upstream']);
    });
  });
}

test('a daemon after reads what the one before left in a file', async (t) => {
  const steps = [
    step('pull', { expect: { min_rows: 2 } }),
    step('next', { dependsOn: ['pull'], with: { one: '{{ steps.pull.result[1] }}' } }),
  ];
  let isDeaf = true;
  const rig = new FlowsRig({ flows: [flowDefinition(steps)], file: journalFile(t), isLost: () => isDeaf });
  t.after(() => rig.close());
  const run = await rig.start();
  rig.fileResult(`${run}/pull`, [1, 2]);
  await rig.settle();
  isDeaf = false;
  await rig.crash();
  assert.deepEqual(await rig.states(run), ['pull success done', 'next running']);
  assert.equal(rig.pool.held.get(`${run}/next`)?.input, '{"one":2}');
});

/** Two steps with guards, at work, and one behind them; what they give is read when the test resolves `disk`. */
async function twoGuarded(t: TestContext) {
  const steps = [
    step('pull', { expect: { min_rows: 2 } }),
    step('other', { expect: { min_rows: 1 } }),
    step('next', { dependsOn: ['pull', 'other'] }),
  ];
  const rig = new FlowsRig({ flows: [flowDefinition(steps)], file: journalFile(t) });
  t.after(() => rig.close());
  const run = await rig.start();
  const disk = Promise.withResolvers<void>();
  return { rig, run, disk };
}

test('a run that leaves the memory while its result is read is seen as it ended, not as it was known before', async (t) => {
  const { rig, run, disk } = await twoGuarded(t);
  const acknowledged = Promise.withResolvers<void>();
  rig.disk = disk.promise;
  rig.acknowledged = acknowledged.promise;
  rig.oldSteps = rig.store.flowSteps({ flows: [run], after: 0 });
  rig.fileResult(`${run}/pull`, [1, 2]);
  await rig.settle();
  assert.deepEqual(await rig.states(run), ['pull running', 'other running', 'next pending']);
  acknowledged.resolve();
  await rig.settle();
  disk.resolve();
  await rig.settle();
  assert.deepEqual(await rig.states(run), ['pull success done', 'other running', 'next pending']);
});

test('a result that comes while another one is read is held against what is expected of it too', async (t) => {
  const { rig, run, disk } = await twoGuarded(t);
  rig.disk = disk.promise;
  rig.fileResult(`${run}/other`, [1]);
  await rig.settle();
  rig.fileResult(`${run}/pull`, [1]);
  await rig.settle();
  disk.resolve();
  await rig.settle();
  assert.deepEqual(await rig.states(run), [
    'pull failed not-expected',
    'other success done',
    'next skipped upstream',
  ]);
});
