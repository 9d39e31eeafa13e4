/**
 * A million runs that are to begin later, in the journal of the built daemon: what they cost in memory beside the same
 * daemon without any, how long it takes them over, and how late those begin that are due meanwhile. They are written by
 * the store itself, as triggers of a daemon before would have been.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunDocument, StatusDocument } from '../src/actors/control/index.ts';
import type { RunEvent } from '../src/actors/records.ts';
import { SqliteStore } from '../src/actors/store/index.ts';
import { median, rounded } from './bench-row.ts';
import { BuiltDaemon, builtTargets } from './footprint-daemon.ts';
import { type BoundedRow, figureRow, MB } from './footprint-rows.ts';
import { ProcessSampler, summarise } from './sample-process.ts';

const TASK = 'later';
const BATCH = 2000;
/** Of the runs, these are due while it is watched, one after the other. */
const DUE = 200;
const FIRST_DUE_MS = 6000;
const DUE_EVERY_MS = 25;
const WATCH_MS = FIRST_DUE_MS + DUE * DUE_EVERY_MS + 2000;
const DAY_MS = 86_400_000;
const BEYOND_BASE = { below: 64 } as const;

export async function benchDelayedRuns({ quick }: { readonly quick: boolean }): Promise<BoundedRow[]> {
  const count = quick ? 50_000 : 1_000_000;
  builtTargets('npm');
  const dir = mkdtempSync(join(tmpdir(), 'colibri-bench-'));
  try {
    const base = await watch(join(dir, 'base'), 0);
    const many = await watch(join(dir, 'many'), count);
    const named = `${count.toLocaleString('en')} delayed runs`;
    return [
      figureRow({
        name: `${named}: RSS beyond the base`,
        unit: 'MB',
        value: (many.rss - base.rss) / MB,
        bound: BEYOND_BASE,
        note: `base ${rounded(base.rss / MB)} MB`,
      }),
      figureRow({ name: `${named}: journal`, unit: 'bytes a run', value: many.journalBytes / count }),
      figureRow({
        name: `${named}: exec to ready`,
        unit: 'ms',
        value: many.startMs,
        note: `without any ${rounded(base.startMs)}`,
      }),
      figureRow({
        name: `${named}: begun late, most of ${DUE}`,
        unit: 'ms',
        value: Math.max(...many.lateMs),
        median: median(many.lateMs),
        note: `begun early: ${many.lateMs.filter((lateMs) => lateMs < 0).length}`,
      }),
    ];
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

interface Watched {
  readonly rss: number;
  readonly journalBytes: number;
  readonly startMs: number;
  /** Of each run that was due, by the journal. */
  readonly lateMs: readonly number[];
}

async function watch(dir: string, count: number): Promise<Watched> {
  const config = {
    queues: { delayed: { capacity: 2_000_000 } },
    tasks: [{ name: TASK, kind: 'io', handler: 'noop' }],
  };
  // Made by a first start, as the daemon makes it.
  await (await BuiltDaemon.start('npm', dir, config)).stop();
  const file = join(dir, 'state', 'journal.db');
  if (count > 0) fill(file, count - DUE, (index) => Date.now() + DAY_MS + (index * 365 * DAY_MS) / count);
  if (count > 0) fill(file, DUE, (index) => Date.now() + FIRST_DUE_MS + index * DUE_EVERY_MS);
  const journalBytes = statSync(file).size;
  const daemon = await BuiltDaemon.start('npm', dir, config);
  try {
    const sampler = new ProcessSampler(daemon.pid);
    await sleep(WATCH_MS);
    const { rss } = summarise(sampler.since());
    sampler.stop();
    const { queues } = (await daemon.control.get('/status')) as StatusDocument;
    const depth = queues.find((queue) => queue.name === 'delayed')?.depth;
    const left = Math.max(0, count - DUE);
    if (depth !== left) throw new Error(`expected ${left} runs that are delayed, got ${depth}`);
    const { runs } = (await daemon.control.get('/runs?state=success&limit=1000')) as { runs: RunDocument[] };
    const lateMs = runs.map(({ run, started_at }) => Date.parse(started_at!) - Number(run.split('@')[1]));
    return { rss: rss.max, journalBytes, startMs: daemon.startMs, lateMs };
  } finally {
    await daemon.stop();
  }
}

/** The id of a run says when it is due, with a number that tells those of one instant apart behind it. */
function fill(file: string, count: number, dueOf: (index: number) => number): void {
  const retention = { runs: 10_000, results: 200, resultTtlMs: 1e9, fileBytes: 1e12, maxBytes: 1e9 };
  const store = new SqliteStore({ file, durability: 'process', nowMs: Date.now, retention });
  try {
    store.open(`bench ${count}`, 0);
    for (let first = 1; first <= count; first += BATCH) {
      const length = Math.min(BATCH, count + 1 - first);
      const events = Array.from({ length }, (_, index) => pending(first + index, dueOf(first + index)));
      store.append({ first, events, dropped: [] });
      store.commit();
    }
  } finally {
    store.close();
  }
}

function pending(index: number, dueAtMs: number): RunEvent {
  const createdAtMs = Date.now();
  const due = Math.floor(dueAtMs);
  return {
    run: `${TASK}@${due}@${index}`,
    task: TASK,
    state: 'pending',
    attempt: 0,
    atMs: createdAtMs,
    origin: 'manual',
    createdAtMs,
    dueAtMs: due,
    input: JSON.stringify({ order: index, path: `/srv/orders/${index}.json` }),
  };
}
