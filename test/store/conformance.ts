/** What every Store does, whatever it keeps things in. Each implementation runs this suite. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RunEvent } from '../../src/actors/protocol.ts';
import type { Retention, Store } from '../../src/actors/store/index.ts';

export interface StoreUnderTest {
  readonly store: Store;
  /** Moves the store's wall clock. */
  advance(ms: number): void;
}

const HOUR_MS = 3_600_000;

export function storeConformance(
  name: string,
  open: (retention: Retention) => Promise<StoreUnderTest>,
): void {
  const anyRetention: Retention = { runs: 100, results: 10, resultTtlMs: 24 * HOUR_MS, maxBytes: 1e9 };
  const first = (run: string, more: Partial<RunEvent> = {}): RunEvent => ({
    run,
    task: 'a',
    state: 'running',
    attempt: 1,
    atMs: 1000,
    origin: 'manual',
    createdAtMs: 900,
    input: '{"x":1}',
    ...more,
  });
  const end = (run: string, more: Partial<RunEvent> = {}): RunEvent => ({
    run,
    task: 'a',
    state: 'success',
    attempt: 1,
    atMs: 1500,
    durationMs: 500,
    result: '7',
    ...more,
  });
  const all = { task: null, state: null, limit: 1000 };

  describe(`store: ${name}`, () => {
    test('a run is shown as its transitions left it', async () => {
      const { store } = await open(anyRetention);
      await store.append([first('a@1')]);
      assert.equal((await store.show('a@1'))?.state, 'running');
      await store.append([end('a@1')]);
      const view = await store.show('a@1');
      assert.deepEqual(
        { ...view, attempts: [] },
        {
          run: 'a@1',
          task: 'a',
          state: 'success',
          attempt: 1,
          origin: 'manual',
          createdAtMs: 900,
          startedAtMs: 1000,
          endedAtMs: 1500,
          durationMs: 500,
          dueAtMs: null,
          input: '{"x":1}',
          result: '7',
          error: null,
          progress: null,
          attempts: [],
        },
      );
      assert.equal(await store.show('a@2'), null);
      await store.close();
    });

    test('transitions that were merged into one are as good as one by one', async () => {
      const { store } = await open(anyRetention);
      await store.append([first('a@1', { state: 'success', atMs: 1500, durationMs: 500, result: '7' })]);
      const view = await store.show('a@1');
      assert.deepEqual([view?.state, view?.startedAtMs, view?.endedAtMs], ['success', 1000, 1500]);
      await store.close();
    });

    test('the attempts of a run are kept with their errors', async () => {
      const { store } = await open(anyRetention);
      const error = { code: 'handler-failed', message: 'no' } as const;
      await store.append([first('a@1')]);
      await store.append([
        {
          run: 'a@1',
          task: 'a',
          state: 'retrying',
          attempt: 1,
          atMs: 1100,
          durationMs: 100,
          error,
          dueAtMs: 2000,
        },
      ]);
      assert.equal((await store.show('a@1'))?.dueAtMs, 2000);
      await store.append([{ run: 'a@1', task: 'a', state: 'running', attempt: 2, atMs: 2000 }]);
      await store.append([
        end('a@1', { state: 'failed', attempt: 2, atMs: 2100, durationMs: 100, result: null, error }),
      ]);
      const view = await store.show('a@1');
      assert.deepEqual(
        view?.attempts.map(({ attempt, state }) => [attempt, state]),
        [
          [1, 'failed'],
          [2, 'failed'],
        ],
      );
      assert.equal(view?.error?.message, 'no');
      await store.close();
    });

    test('list: newest first, by task, by state, at most the limit', async () => {
      const { store } = await open(anyRetention);
      for (let index = 1; index <= 5; index++) {
        const run = `a@${index}`;
        await store.append([first(run, { createdAtMs: index, task: index % 2 === 0 ? 'b' : 'a' })]);
        if (index < 5) await store.append([end(run, { task: index % 2 === 0 ? 'b' : 'a' })]);
      }
      const names = async (filter: Parameters<Store['list']>[0]) =>
        (await store.list(filter)).map((view) => view.run);
      assert.deepEqual(await names(all), ['a@5', 'a@4', 'a@3', 'a@2', 'a@1']);
      assert.deepEqual(await names({ ...all, task: 'b' }), ['a@4', 'a@2']);
      assert.deepEqual(await names({ ...all, state: 'running' }), ['a@5']);
      assert.deepEqual(await names({ ...all, limit: 2 }), ['a@5', 'a@4']);
      await store.close();
    });

    test('runs that are over are bounded in number, live ones are not touched', async () => {
      const { store } = await open({ ...anyRetention, runs: 3 });
      await store.append([first('a@live', { createdAtMs: 1 })]);
      for (let index = 1; index <= 10; index++) await store.append([first(`a@${index}`), end(`a@${index}`)]);
      const names = (await store.list(all)).map((view) => view.run);
      assert.deepEqual(names.toSorted(), ['a@10', 'a@8', 'a@9', 'a@live']);
      await store.close();
    });

    test('runs that are over are bounded in bytes, the oldest go first', async () => {
      const { store } = await open({ ...anyRetention, maxBytes: 100_000 });
      for (let index = 1; index <= 50; index++) {
        await store.append([first(`a@${index}`, { input: 'x'.repeat(10_000) }), end(`a@${index}`)]);
      }
      const names = (await store.list(all)).map((view) => view.run);
      assert.ok(names.length >= 2 && names.length <= 10, `${names.length}`);
      assert.equal(names.includes('a@50'), true);
      assert.equal(names.includes('a@1'), false);
      await store.close();
    });

    test('results are bounded in number and in age; the run stays', async () => {
      const { store, advance } = await open({ ...anyRetention, results: 2, resultTtlMs: HOUR_MS });
      for (const run of ['a@1', 'a@2', 'a@3']) await store.append([first(run), end(run)]);
      assert.equal((await store.show('a@1'))?.result, null);
      assert.equal((await store.show('a@3'))?.result, '7');
      advance(HOUR_MS + 1);
      await store.append([first('b@1'), end('b@1')]);
      assert.equal((await store.show('a@3'))?.result, null);
      assert.equal((await store.show('a@3'))?.state, 'success');
      assert.equal((await store.show('b@1'))?.result, '7');
      await store.close();
    });

    test('a file is marked by a run that succeeded or failed for good, and by no other end', async () => {
      const { store } = await open(anyRetention);
      const mark = (index: number) => index.toString(16).padStart(16, '0');
      const states = ['success', 'failed', 'cancelled', 'skipped'] as const;
      for (const [index, state] of states.entries()) {
        await store.append([first(`a@${index}`), end(`a@${index}`, { state, mark: mark(index) })]);
      }
      await store.append([first('a@9', { mark: mark(9) })]);
      const found = await store.marked('a', [0, 1, 2, 3, 9].map(mark));
      assert.deepEqual([...found].toSorted(), [mark(0), mark(1)]);
      assert.deepEqual([...(await store.marked('b', [mark(0)]))], [], 'marks belong to their task');
      await store.close();
    });

    test('the end of a scan that found nothing is not kept', async () => {
      const { store } = await open(anyRetention);
      await store.append([end('a@1', { quiet: true })]);
      assert.equal(await store.show('a@1'), null);
      await store.close();
    });
  });
}
