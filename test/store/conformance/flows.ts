/** What is kept of the runs of flows and of their steps. */
import assert from 'node:assert/strict';
import type { RunFilter } from '../../../src/actors/protocol.ts';
import { type Cases, HOUR_MS } from '../conformance.ts';
import { begin, end, then } from '../feed.ts';

const ALL: RunFilter = { task: null, state: null, limit: 1000 };
const FLOW = 'f@1';
const ofFlow = { flow: FLOW } as const;

export const flowCases: Cases = {
  'steps of a flow that is not over are kept with their results, whatever else comes': (open) => {
    const { store, feed, advance } = open({ runs: 2, results: 1, resultTtlMs: HOUR_MS });
    feed.record([begin(FLOW)]);
    for (const step of ['x', 'y', 'z']) {
      feed.record([begin(`${FLOW}/${step}`, ofFlow), end(`${FLOW}/${step}`, ofFlow)]);
    }
    advance(2 * HOUR_MS);
    for (let index = 1; index <= 5; index++) {
      feed.record([begin(`a@${index}`), end(`a@${index}`, { atMs: 1500 + index })]);
    }
    const runs = ['x', 'y', 'z'].map((step) => `${FLOW}/${step}`);
    assert.deepEqual(store.results(runs), ['7', '7', '7']);
    assert.deepEqual(store.keptResults(['a@4', ...runs, FLOW, 'never']), runs);
    assert.deepEqual(
      store.flowSteps({ flows: [FLOW, 'f@2'], after: 0 }).steps.map(({ run, state }) => [run, state]),
      runs.map((run) => [run, 'success']),
    );
    assert.equal(store.list(ALL).length, 6);
    feed.record([end(FLOW, { atMs: 1600 })]);
    assert.deepEqual(
      store
        .list(ALL)
        .map((view) => view.run)
        .toSorted(),
      [FLOW, `${FLOW}/z`],
      'then they count as all others, as if they had ended with it',
    );
  },

  'the run of a flow keeps its note, and began when it first did': (open) => {
    const { store, feed } = open();
    feed.record([begin(FLOW, { atMs: 1000, note: '{"a":1}' })]);
    feed.record([then(FLOW, { atMs: 1200, note: '{"a":2}' })]);
    assert.deepEqual([store.show(FLOW)?.note, store.show(FLOW)?.startedAtMs], ['{"a":2}', 1000]);
    feed.record([end(FLOW, { atMs: 1300 })]);
    assert.equal(store.show(FLOW)?.note, '{"a":2}');
    feed.record([begin('f@2', { atMs: 1000 }), end('f@2', { note: '{"end":1}' })]);
    assert.equal(store.show('f@2')?.note, '{"end":1}');
  },

  'a run of a flow again keeps the steps that it takes over': (open) => {
    const { store, feed } = open({ runs: 1 });
    const step = `${FLOW}/x`;
    feed.record([begin(FLOW), begin(step, ofFlow), end(step, ofFlow)]);
    // In one commit: else the first of them were forgotten.
    feed.record([end(FLOW, { atMs: 1600 }), begin('f@2', { adopts: [step, 'never'] })]);
    feed.record([begin('a@1'), end('a@1', { atMs: 1700 })]);
    assert.deepEqual(store.results([step, FLOW]), ['7', null]);
    feed.record([end('f@2', { atMs: 1800 })]);
    assert.deepEqual(store.results([step]), [null]);
  },

  'a step is kept as long as any run of a flow lives that takes it over, in whatever order they end': (
    open,
  ) => {
    for (const order of [
      ['f@2', 'f@3', 'f@4'],
      ['f@4', 'f@3', 'f@2'],
      ['f@3', 'f@2', 'f@4'],
    ]) {
      const { store, feed, advance } = open({ runs: 1, resultTtlMs: HOUR_MS });
      const step = `${FLOW}/x`;
      feed.record([begin(FLOW), begin(step, ofFlow), end(step, ofFlow)]);
      const waits = { state: 'pending', attempt: 0, adopts: [step] } as const;
      feed.record([
        end(FLOW, { atMs: 1600 }),
        begin('f@2', { adopts: [step] }),
        begin('f@3', waits),
        begin('f@4', waits),
      ]);
      for (const [index, flow] of order.entries()) {
        advance(2 * HOUR_MS);
        feed.record([begin(`a@${index}`), end(`a@${index}`, { atMs: 1700 + index })]);
        assert.deepEqual(store.results([step]), ['7'], `${flow} lives`);
        assert.deepEqual(
          order.slice(index).map((one) => store.flowSteps({ flows: [one], after: 0 }).steps),
          order.slice(index).map(() => []),
          'it is not one of its own',
        );
        feed.record([end(flow, { state: 'cancelled', result: null, atMs: 1800 + index })]);
      }
      advance(2 * HOUR_MS);
      feed.record([begin('a@9'), end('a@9', { atMs: 1900 })]);
      assert.deepEqual(store.results([step]), [null]);
      assert.deepEqual(
        store.list(ALL).map(({ run }) => run),
        ['a@9'],
      );
    }
  },

  'steps outlast the items of their flow, and what ended before it did': (open) => {
    const { store, feed } = open({ runs: 6, results: 6 });
    const pull = `${FLOW}/pull`;
    feed.record([begin(FLOW), begin(pull, ofFlow), end(pull, ofFlow)]);
    for (let index = 0; index < 10; index++) {
      const item = `${FLOW}/one[${index}]`;
      feed.record([begin(item, ofFlow), end(item, { ...ofFlow, result: 'null', atMs: 1510 + index })]);
      feed.record([begin(`a@${index}`), end(`a@${index}`, { atMs: 1510 + index })]);
    }
    feed.record([end(FLOW, { state: 'failed', result: null, atMs: 1600 })]);
    assert.deepEqual(store.results([pull]), ['7']);
    feed.record([begin('a@x'), end('a@x', { atMs: 1700 })]);
    assert.deepEqual(store.results([pull]), ['7']);
    assert.ok(
      store.show(`${FLOW}/one[9]`) !== null,
      'the runs of items are not sooner forgotten than others',
    );
  },

  'the results of items make room before all others': (open) => {
    const { store, feed } = open({ results: 6 });
    const flows = ['f@1', 'f@2', 'f@3'];
    for (const [at, flow] of flows.entries()) {
      const steps = [`${flow}/pull`, ...[0, 1, 2, 3, 4, 5].map((item) => `${flow}/one[${item}]`)];
      feed.record([begin(flow)]);
      for (const step of steps)
        feed.record([begin(step, { flow }), end(step, { flow, atMs: 1500 + 100 * at })]);
      feed.record([end(flow, { state: 'failed', result: null, atMs: 1550 + 100 * at })]);
    }
    assert.deepEqual(
      store.results(flows.map((flow) => `${flow}/pull`)),
      flows.map(() => '7'),
    );
    const items = [0, 1, 2, 3, 4, 5].map((item) => `f@3/one[${item}]`);
    assert.deepEqual(store.results(items), [null, null, null, '7', '7', '7'], 'the newest stay');
  },

  'the age of what a step gave counts from the end of its flow': (open) => {
    const { store, feed, nowMs, advance } = open({ resultTtlMs: HOUR_MS });
    const step = `${FLOW}/x`;
    feed.record([begin(FLOW), begin(step, ofFlow), end(step, { ...ofFlow, atMs: nowMs() })]);
    advance(2 * HOUR_MS);
    feed.record([end(FLOW, { atMs: nowMs() })]);
    advance(HOUR_MS - 2);
    feed.record([begin('a@1'), end('a@1', { atMs: nowMs() })]);
    assert.deepEqual(store.results([step]), ['7']);
    advance(2);
    feed.record([begin('a@2'), end('a@2', { atMs: nowMs() })]);
    assert.deepEqual(store.results([step]), [null]);
  },

  'steps of several flows come in pages': (open) => {
    const { store, feed } = open({ runs: 1e6 });
    const flows = ['f@1', 'f@2', 'f@3'];
    const expected: string[] = [];
    for (const flow of flows) {
      feed.append([begin(flow)]);
      for (let index = 0; index < 700; index++) {
        expected.push(`${flow}/x[${index}]`);
        feed.append([begin(`${flow}/x[${index}]`, { flow })]);
        if (index % 2 === 0) feed.append([end(`${flow}/x[${index}]`, { flow })]);
      }
    }
    store.commit();
    const seen: string[] = [];
    let pages = 0;
    for (
      let place: { flows: readonly string[]; after: number } | null = { flows, after: 0 };
      place !== null;
    ) {
      const page: ReturnType<typeof store.flowSteps> = store.flowSteps(place);
      seen.push(...page.steps.map(({ run }) => run));
      pages++;
      place = page.next;
    }
    assert.deepEqual(seen.toSorted(), expected.toSorted());
    assert.ok(pages > 1, 'not all of them at once');
  },

  'a step that ends after its flow counts then': (open) => {
    const { store, feed } = open({ runs: 2 });
    const step = `${FLOW}/x`;
    feed.record([begin(FLOW), begin(step, ofFlow)]);
    feed.record([end(FLOW, { atMs: 1600 })]);
    feed.record([end(step, { ...ofFlow, atMs: 1700 })]);
    feed.record([begin('a@1'), end('a@1', { atMs: 1800 })]);
    assert.deepEqual(
      store
        .list(ALL)
        .map((view) => view.run)
        .toSorted(),
      ['a@1', step],
    );
  },
};
