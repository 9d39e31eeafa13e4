/** Flows that are run again: of a list only the items run that did not succeed. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { MOST_ORIGINS, notedItems, TakenItems } from '../../src/actors/flow/taken-items.ts';
import { FakeAnswer } from '../runs/runs-setup.ts';
import {
  type FlowsRig,
  flowDefinition,
  type RigOptions,
  rigOf,
  stepDefinition as step,
} from './flows-rig.ts';

const EACH = { list: '{{ steps.pull.result }}', concurrency: 10, onFailure: 'continue' } as const;
const ONE = step('one', { dependsOn: ['pull'], each: EACH, with: { item: '{{ item }}' } });
const STEPS = [step('pull'), ONE, step('after', { dependsOn: ['one'] })];
const READ = [
  step('pull'),
  ONE,
  step('after', { dependsOn: ['one'], with: { all: '{{ steps.one.result }}' } }),
];

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at);

for (const kind of ['memory', 'sqlite'] as const) {
  describe(`items again: ${kind}`, () => {
    const make = (t: TestContext, steps = STEPS, more: Partial<RigOptions> = {}) =>
      rigOf(t, kind, { flows: [flowDefinition(steps)], overlap: 'allow', ...more });

    /** Those of the items that are held end: `fails` of them badly, the others with their number and `by`. */
    async function finish(rig: FlowsRig, run: string, fails: readonly number[], by = ''): Promise<number[]> {
      const items = rig.held.flatMap((name) => /^one\[(\d+)\]$/.exec(name)?.[1] ?? []).map(Number);
      for (const item of items) {
        if (fails.includes(item)) rig.fail(`${run}/one[${item}]`);
        else rig.result(`${run}/one[${item}]`, `${item}${by}`);
      }
      await rig.told();
      return items.toSorted((a, b) => a - b);
    }

    async function firstOf(rig: FlowsRig, fails: readonly number[], items = 5): Promise<string> {
      const run = await rig.start();
      rig.result(
        `${run}/pull`,
        Array.from({ length: items }, (_, item) => item),
      );
      await rig.settle();
      await finish(rig, run, fails);
      return run;
    }

    const itemsOf = async (rig: FlowsRig, run: string) => (await rig.show(run)).steps![1]!.items;

    test('the failed ones run, and those alone, try by try', async (t) => {
      const rig = make(t);
      const first = await firstOf(rig, [1, 3, 4]);
      assert.deepEqual(await itemsOf(rig, first), { size: 5, succeeded: 2, failed: 3 });
      const second = await rig.again(first);
      if (kind === 'sqlite') await rig.crash();
      assert.deepEqual(await finish(rig, second, [3]), [1, 3, 4]);
      assert.deepEqual(await itemsOf(rig, second), { size: 5, succeeded: 4, failed: 1, takenOver: 2 });
      const third = await rig.again(second);
      assert.deepEqual(await finish(rig, third, []), [3]);
      assert.deepEqual(rig.held, ['after']);
      assert.deepEqual(await rig.states(third), [
        'pull success taken-over',
        'one success done',
        'after running',
      ]);
      assert.deepEqual(await itemsOf(rig, third), { size: 5, succeeded: 5, failed: 0, takenOver: 4 });
    });

    test('and what reads the results has those of all tries', async (t) => {
      const rig = make(t, READ);
      const first = await firstOf(rig, [1, 3]);
      const second = await rig.again(first);
      await finish(rig, second, [3], '!');
      const third = await rig.again(second);
      await finish(rig, third, [], '?');
      if (kind === 'sqlite') await rig.crash();
      const input = () => JSON.parse(rig.pool.held.get([...rig.pool.held.keys()][0]!)!.input);
      assert.deepEqual(input(), { all: ['0', '1!', '2', '3?', '4'] });
      rig.fail(`${third}/after`);
      await rig.told();
      await rig.again(third);
      await rig.settle();
      assert.deepEqual(rig.held, ['after'], 'the list is taken over as a whole');
      assert.deepEqual(input(), { all: ['0', '1!', '2', '3?', '4'] });
    });

    test('of a list that is from more runs than are noted, the items that are not known any more are done once more', async (t) => {
      const each = { ...EACH, concurrency: 100 };
      const rig = make(t, [READ[0]!, { ...ONE, each }, READ[2]!]);
      const size = MOST_ORIGINS + 1;
      let run = await firstOf(rig, range(1, size), size);
      for (let item = 1; item < size; item++) {
        run = await rig.again(run);
        assert.deepEqual(await finish(rig, run, range(item + 1, size)), range(item, size));
      }
      rig.fail(`${run}/after`);
      await rig.told();
      const again = await rig.again(run);
      assert.deepEqual(rig.held, ['one[0]']);
      await finish(rig, again, [], '!');
      const { all } = JSON.parse(rig.pool.held.get(`${again}/after`)!.input) as { all: unknown };
      assert.deepEqual(all, ['0!', ...range(1, size).map(String)]);
    });

    test('an item that ends well after the timeout of its flow is no success, nor is it taken over', async (t) => {
      const rig = rigOf(t, kind, { flows: [flowDefinition(STEPS, { timeoutMs: 60_000 })], overlap: 'allow' });
      const run = await firstOf(rig, [], 0);
      assert.deepEqual(rig.held, ['after']);
      rig.finish(`${run}/after`);
      await rig.told();
      const late = await rig.start();
      rig.result(`${late}/pull`, [0, 1]);
      await rig.settle();
      rig.result(`${late}/one[0]`, 0);
      await rig.settle();
      await rig.clock.advance(61_000);
      await rig.settle();
      rig.result(`${late}/one[1]`, 'half of it');
      await rig.told();
      assert.equal(rig.view(late)?.error?.code, 'timeout');
      await rig.again(late);
      assert.deepEqual(rig.held, ['one[1]']);
    });

    test('a stop in the middle: what did not begin and what was cut runs too', async (t) => {
      const each = { ...EACH, concurrency: 2, onFailure: 'stop' } as const;
      const rig = make(t, [step('pull'), { ...ONE, each }, step('after', { dependsOn: ['one'] })]);
      const first = await rig.start();
      rig.result(`${first}/pull`, [0, 1, 2, 3, 4]);
      await rig.settle();
      rig.result(`${first}/one[0]`, 0);
      await rig.settle();
      rig.fail(`${first}/one[1]`);
      await rig.settle();
      rig.finish(`${first}/one[2]`, { status: 'cancelled' });
      await rig.told();
      const again = await rig.again(first);
      assert.deepEqual(rig.held, ['one[1]', 'one[2]']);
      await finish(rig, again, []);
      assert.deepEqual(rig.held, ['one[3]', 'one[4]']);
    });

    test('a whole run, or one from the step, is of all items; from another step, of those that failed', async (t) => {
      const rig = make(t, [...STEPS, step('other')]);
      const first = await rig.start();
      rig.result(`${first}/pull`, [0, 1, 2]);
      rig.finish(`${first}/other`);
      await rig.settle();
      await finish(rig, first, [1]);
      for (const [choice, items] of [
        [{ kind: 'step', step: 'one' }, [0, 1, 2]],
        [{ kind: 'step', step: 'other' }, [1]],
      ] as const) {
        const again = await rig.again(first, choice);
        assert.deepEqual(await finish(rig, again, [1]), items, JSON.stringify(choice));
        for (const run of [...rig.pool.held.keys()]) rig.finish(run, { status: 'cancelled' });
        await rig.told();
      }
    });

    test('a list that is made anew is of other items', async (t) => {
      const rig = make(t);
      const first = await firstOf(rig, [1], 3);
      const second = await rig.again(first, { kind: 'step', step: 'pull' });
      rig.result(`${second}/pull`, [7, 8, 9]);
      await rig.settle();
      assert.deepEqual(await finish(rig, second, []), [0, 1, 2]);
    });

    test('items that were cut with their flow are cancelled ones, and no failed ones', async (t) => {
      const rig = make(t);
      const run = await rig.start();
      rig.result(`${run}/pull`, [0, 1, 2, 3]);
      await rig.settle();
      rig.result(`${run}/one[0]`, 0);
      rig.fail(`${run}/one[3]`);
      await rig.settle();
      rig.runs.cancel(run);
      await rig.settle();
      for (const one of [...rig.pool.held.keys()]) rig.finish(one, { status: 'cancelled' });
      await rig.told();
      assert.equal(rig.view(run)?.state, 'cancelled');
      assert.deepEqual(await itemsOf(rig, run), { size: 4, succeeded: 1, failed: 1, cancelled: 2 });
    });

    test('one that is cancelled before its list began has lost nothing', async (t) => {
      const rig = make(t, STEPS, { slots: 1 });
      const first = await rig.start();
      rig.result(`${first}/pull`, [0, 1]);
      await rig.settle();
      rig.result(`${first}/one[0]`, 0);
      await rig.settle();
      rig.fail(`${first}/one[1]`);
      await rig.told();
      const second = await rig.again(first);
      rig.runs.cancel(second);
      await rig.settle();
      for (const run of [...rig.pool.held.keys()]) rig.finish(run, { status: 'cancelled' });
      await rig.told();
      assert.equal(rig.view(second)?.state, 'cancelled');
      await rig.again(second);
      assert.deepEqual(rig.held, ['one[1]']);
    });

    test('an item whose result is wanted and forgotten runs again, and that is said', async (t) => {
      const rig = make(t, READ, { retention: { results: 3 } });
      const first = await firstOf(rig, [1]);
      const answer = new FakeAnswer();
      await rig.flows.rerun({ run: first, choice: { kind: 'failed' } }, answer);
      await rig.settle();
      const { run, forgotten } = answer.value as { run: string; forgotten: unknown };
      assert.deepEqual(forgotten, [{ step: 'one', results: 2 }]);
      assert.equal((await rig.show(run)).steps![1]!.forgotten, 2);
      const items = await finish(rig, run, []);
      assert.deepEqual([items.length, items.includes(1)], [3, true]);
      const { all } = JSON.parse(rig.pool.held.get(`${run}/after`)!.input) as { all: unknown };
      assert.deepEqual(all, ['0', '1', '2', '3', '4']);
    });

    test('where nobody reads them, results that are forgotten are not missed', async (t) => {
      const rig = make(t, STEPS, { retention: { results: 1 } });
      const first = await firstOf(rig, [1]);
      const again = await rig.again(first);
      assert.deepEqual(await finish(rig, again, []), [1]);
    });

    test('a list whose results are read is done once more as far as they are forgotten, and all behind it', async (t) => {
      const rig = make(t, READ, { retention: { results: 3 } });
      const first = await firstOf(rig, []);
      rig.fail(`${first}/after`);
      await rig.told();
      const again = await rig.again(first);
      const items = await finish(rig, again, []);
      assert.equal(items.length, 3);
      assert.deepEqual(rig.held, ['after']);
      assert.equal((await rig.show(again)).steps![1]!.forgotten, 3);
    });
  });
}

test('what is noted of items is read as it was written, and is small', () => {
  const bits = fc.array(fc.nat(2), { maxLength: 60 });
  fc.assert(
    fc.property(bits, (by) => {
      const noted = ['a/x', 'b/x'].flatMap((run, at) =>
        notedItems(run, by.length, (item) => by[item] === at + 1),
      );
      const taken = new TakenItems(by.length, noted);
      const origins = by.map((_, item) => taken.runOf(item));
      assert.deepEqual(
        origins,
        by.map((origin, item) => (origin === 0 ? null : `${origin === 1 ? 'a' : 'b'}/x[${item}]`)),
      );
      assert.equal(taken.count, origins.filter((one) => one !== null).length);
      assert.deepEqual(new TakenItems(by.length, taken.noted()).runs(), taken.runs());
    }),
  );
  const [half] = notedItems('f@1/one', 10_000, (item) => item % 2 === 0);
  assert.ok(half!.items.length < 1700);
  assert.deepEqual(
    notedItems('f@1/one', 10_000, () => true),
    [{ run: 'f@1/one', items: 'all' }],
  );
  const odd = new TakenItems(3, [{ run: 'x', items: '!' }]);
  assert.equal(odd.count, 0, 'what cannot be read is nothing');
});
