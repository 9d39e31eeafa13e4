import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RUNTIME_FLAGS } from '../../scripts/runtime-flags.ts';
import { sizeDocument } from '../../src/actors/control/index.ts';
import { HEAP_BYTES } from '../../src/actors/kernel/index.ts';
import type { LedgerRow, SizeView } from '../../src/actors/views/size-view.ts';
import type { Config } from '../../src/main/config/index.ts';
import { HOST_LIMITS } from '../../src/main/early-start.ts';
import { historyBytes, ledger, type Measured } from '../../src/main/memory/index.ts';
import { codecBytes } from '../../src/workers/index.ts';
import { load } from '../config/config-fixtures.ts';

const MIB = 2 ** 20;
const config = async (text = ''): Promise<Config> => (await load(text)).config;

const measured: Measured = {
  memory: { rss: 40 * MIB, anon: 33 * MIB, file: 7 * MIB },
  mainHeap: 8 * MIB,
  links: new Map([['service', { heap: 6 * MIB, out: 1000 }]]),
  cpuHeaps: [4 * MIB, null],
  runs: { ready: 500, delayed: 20, retry: 3, running: 7, deadLetters: 11, keys: 0, journal: 13 },
  mailboxes: new Map([
    ['runs', 5],
    ['store', 6],
  ]),
  store: { history: 100, live: 200, marks: 300 },
  flows: 17,
  logBytes: 64 * 1024,
  flow: { windowMs: 60_000, arrivals: 1200, meanDepth: 5, ended: 1200, durationMs: 48_000 },
  io: { slots: 12, waitMs: 50, computeMs: 10 },
  steps: { release: 1, collect: 2, shrink: 3, grow: 4 },
};

const rowOf = (view: SizeView, name: string): LedgerRow => {
  const found = view.rows.find((row) => row.name === name);
  assert.ok(found !== undefined, `no row ${name}`);
  return found;
};

test('the rows of the process, measured, add up to its resident memory', async () => {
  const view = ledger(await config(), 4, measured);
  const top = view.rows.filter((row) => row.within === null);
  const sum = top.reduce((bytes, row) => bytes + (row.measuredBytes ?? 0), 0);
  assert.equal(sum, view.rssBytes);
  assert.equal(
    rowOf(view, 'native memory').measuredBytes,
    (33 - 8 - 6 - 4) * MIB,
    'a heap that is not known stays in it',
  );
  assert.deepEqual(
    [1, 2, 3, 4].map((index) => rowOf(view, `cpu thread ${index} heap`).measuredBytes),
    [4 * MIB, null, 0, 0],
    'known, not known, not there',
  );
});

test('each row is named once, says how, and is a part of a row before it', async () => {
  const view = ledger(await config('handlers: [./h.ts]'), 4, measured);
  const seen = new Set<string>();
  for (const { name, within, how } of view.rows) {
    assert.ok(!seen.has(name), name);
    assert.ok(within === null || seen.has(within), `${name} within ${within}`);
    assert.ok(how.length > 5, name);
    seen.add(name);
  }
});

test('bounds of parts of a bounded row are not counted twice; what has no bound is named', async () => {
  const view = ledger(await config(), 4, null);
  const counted = view.rows.filter((row) => {
    return row.boundBytes !== null && (row.within === null || rowOf(view, row.within).boundBytes === null);
  });
  assert.equal(
    view.boundsBytes,
    counted.reduce((sum, row) => sum + row.boundBytes!, 0),
  );
  assert.ok(!counted.some(({ name }) => name === 'ready queue'));
  const parts = view.rows.filter(({ within }) => within === 'live runs');
  assert.equal(
    parts.reduce((sum, row) => sum + (row.boundBytes ?? 0), 0),
    rowOf(view, 'live runs').boundBytes,
  );
  assert.deepEqual(view.unbounded, ['main heap', 'service heap', 'native memory', 'pages of files']);
  const inMemory = ledger(await config('store: { kind: memory }'), 4, null);
  assert.ok(inMemory.unbounded.includes('store: marks of files'));
});

test('of a journal, which is on disk, only what is in memory is counted', async () => {
  // What the store on disk says of itself is the size of its file.
  const onDisk = { ...measured, store: { history: 50 * MIB, live: 0, marks: 0 } };
  const view = ledger(await config('retention: { max_mb: 900 }'), 4, onDisk);
  assert.ok(view.rows.every(({ name }) => !name.startsWith('store: ')));
  assert.ok(view.rows.every(({ measuredBytes }) => (measuredBytes ?? 0) < 50 * MIB));
  const { boundBytes, within } = rowOf(view, 'pages of the journal');
  assert.deepEqual([boundBytes, within], [MIB, 'native memory']);
  const other = ledger(await config('retention: { max_mb: 1 }'), 4, onDisk);
  assert.equal(view.boundsBytes, other.boundsBytes, 'room on disk is no memory');
  const inMemory = ledger(await config('store: { kind: memory }'), 4, null);
  assert.ok(inMemory.rows.every(({ name }) => name !== 'pages of the journal'));
});

test('without a daemon nothing is measured', async () => {
  const view = ledger(await config(), 4, null);
  assert.ok(view.rows.every((row) => row.measuredBytes === null));
  assert.deepEqual([view.rssBytes, view.flow, view.steps], [null, null, null]);
  const { measured: isMeasured, sum } = sizeDocument(view);
  assert.deepEqual([isMeasured, sum.measured_bytes, sum.within_budget], [false, null, false]);
});

test('bounds of queues follow the budget, and fit the default capacity at 40 MB', async () => {
  const kind = 'store: { kind: memory }';
  const small = ledger(await config(kind), 4, null);
  const large = ledger(await config(`${kind}\nmemory: { budget_mb: 400 }`), 4, null);
  for (const name of [
    'ready queue',
    'retry queue',
    'delayed queue',
    'dead letters',
    'journal',
    'store: live runs',
  ]) {
    assert.equal(rowOf(large, name).boundBytes, 10 * rowOf(small, name).boundBytes!, name);
  }
  assert.ok(small.ready.capacity * small.ready.runBytes <= small.ready.maxBytes);
});

test('whatever the budget, what the bounds let into the heap of a thread fits into it', async () => {
  assert.ok(RUNTIME_FLAGS.includes(`--max-old-space-size=${HEAP_BYTES / MIB}`), 'of main');
  assert.equal(HOST_LIMITS.maxOldGenerationSizeMb, HEAP_BYTES / MIB, 'of the service thread');
  const flow = 'tasks: [{ name: a, handler: noop }]\nflows: [{ name: f, steps: [{ task: a }] }]';
  for (const budgetMb of [16, 40, 400, 1024, 4096, 65_536, 1_048_576]) {
    for (const kind of ['sqlite', 'memory']) {
      const text = `memory: { budget_mb: ${budgetMb} }\nstore: { kind: ${kind} }\nretention: { max_mb: 900000 }\n${flow}`;
      const { rows } = ledger(await config(text), 4, null);
      const told = rows.some(({ how }) => how.includes('of the budget'));
      assert.equal(told, budgetMb <= HEAP_BYTES / MIB, 'shares are told as they are');
      for (const heap of ['main heap', 'service heap']) {
        const parts = rows.filter(({ within }) => within === heap);
        const bytes = parts.reduce((sum, { boundBytes }) => sum + (boundBytes ?? 0), 0);
        assert.ok(bytes > 0 && bytes < HEAP_BYTES * 0.6, `${budgetMb} MB, ${kind}, ${heap}: ${bytes}`);
      }
    }
  }
});

test('the history of a store in memory is bounded by the smaller of max_mb and a tenth of the budget', async () => {
  const inMemory = (more = '') => config(`store: { kind: memory }\n${more}`);
  assert.equal(historyBytes(await inMemory()), Math.floor(4 * MIB));
  assert.equal(historyBytes(await inMemory('retention: { max_mb: 2 }')), 2 * MIB);
  assert.equal(historyBytes(await config()), 64 * MIB, 'on disk');
  const view = ledger(await inMemory('retention: { max_mb: 2 }'), 4, measured);
  assert.deepEqual(
    [rowOf(view, 'store: history').boundBytes, rowOf(view, 'store: history').measuredBytes],
    [2 * MIB, 100],
  );
});

test('the guest thread has rows where a task needs it, codecs where one compresses', async () => {
  const tasks = (list: Config['tasks']): Config['tasks'] => list;
  const base = await config('tasks: [{ name: a, handler: noop }]');
  const has = (view: SizeView, name: string) => view.rows.some((row) => row.name === name);
  assert.equal(has(ledger(base, 4, null), 'guest heap'), false);
  assert.equal(rowOf(ledger(base, 4, null), 'codecs').boundBytes, 0);
  const [task] = base.tasks;
  const own = ledger({ ...base, tasks: tasks([{ ...task!, pool: 'guest' }]) }, 4, null);
  for (const name of ['guest heap', 'mailbox of guest', 'link to guest', 'link from guest'])
    assert.ok(has(own, name));
  const heavy = { ...task!, handler: 'compress', with: { algorithm: 'zstd', level: 19 } };
  assert.equal(rowOf(ledger({ ...base, tasks: tasks([heavy]) }, 4, null), 'codecs').boundBytes, 4 * 85 * MIB);
});

test('what a codec takes grows with its level and its window', () => {
  const levels = Array.from({ length: 22 }, (_, index) => codecBytes('compress', { level: index + 1 }));
  assert.deepEqual(
    levels,
    levels.toSorted((a, b) => a - b),
  );
  assert.ok(levels[2]! < 5 * MIB && levels.at(-1)! > 500 * MIB);
  assert.ok(codecBytes('compress', { algorithm: 'gzip', level: 9 }) <= 2 * MIB);
  assert.ok(codecBytes('decompress', { max_window_mb: 64 }) > codecBytes('decompress', {}));
  assert.equal(codecBytes('hash', {}), 0);
});

test("the document puts Little's law and the io formula into numbers", async () => {
  const document = sizeDocument(ledger(await config(), 4, measured));
  assert.deepEqual(document.ready, {
    capacity: 15_000,
    backlog_per_second: 500,
    tolerate_seconds: 30,
    run_bytes: document.ready.run_bytes,
    max_bytes: 8 * MIB,
  });
  assert.deepEqual(document.flow, {
    window_seconds: 60,
    runs_per_second: 20,
    mean_depth: 5,
    mean_wait_seconds: 0.25,
    ended_per_second: 20,
    mean_duration_ms: 40,
    mean_active: 0.8,
  });
  assert.deepEqual(document.io, { sizing: 'ratio', slots: 12, cores: 4, wait_ms: 50, compute_ms: 10 });
  assert.equal(document.sum.measured_bytes, 40 * MIB);
  assert.deepEqual(document.governor, measured.steps);
  const fixed = sizeDocument(ledger(await config('queue_size: 7'), 4, null));
  assert.deepEqual([fixed.ready.capacity, fixed.ready.backlog_per_second], [7, null]);
});

test('live flows have a row, with a bound, where there are any', async () => {
  const none = ledger(await config(), 4, measured);
  assert.ok(none.rows.every(({ name }) => name !== 'live flows'));
  const text = 'tasks: [{ name: a, handler: noop }]\nflows: [{ name: f, steps: [{ task: a }] }]';
  const { boundBytes, measuredBytes, within } = rowOf(ledger(await config(text), 4, measured), 'live flows');
  assert.deepEqual([boundBytes, measuredBytes, within], [2 * MIB, 17, 'main heap']);
});
