/** What the journal is measured beside: BullMQ on a Redis of its own, and bare inserts as the limit. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import type { LoopFigures } from './closed-loop.ts';
import { loadPeer } from './peers.ts';
import { type AppendFsync, isRedisInstalled, RedisServer } from './redis-server.ts';

/** What a contender is asked for. */
export interface Order {
  /** From trigger to the end of the run, or to the answer that it is kept. */
  readonly what: 'run' | 'trigger';
  /** Calls that are kept in flight; without effect where there is a rate. */
  readonly inFlight: number;
  /** Calls a second, however long they take; null: as fast as they are answered. */
  readonly perSecond: number | null;
  readonly count: number;
  /** Runs that are kept in flight beside it. */
  readonly beside: number;
}

const PROGRAM = fileURLToPath(new URL('./peers/bullmq.mjs', import.meta.url));

export class BullMq {
  readonly #redis: RedisServer;
  readonly #child: ChildProcess;

  private constructor(redis: RedisServer, child: ChildProcess) {
    this.#redis = redis;
    this.#child = child;
  }

  /** Null, with a word on it, where Redis or BullMQ is not to be had. */
  static async start(appendfsync: AppendFsync): Promise<BullMq | null> {
    if (!isRedisInstalled() || (await loadPeer('bullmq')) === null) return null;
    const redis = await RedisServer.start(appendfsync);
    const child = fork(PROGRAM, [redis.socketPath]);
    const peer = new BullMq(redis, child);
    try {
      await peer.#answer();
      return peer;
    } catch (error) {
      await peer.stop();
      throw error;
    }
  }

  async measure(order: Order): Promise<LoopFigures> {
    this.#child.send(order);
    return (await this.#answer()) as LoopFigures;
  }

  /** Bytes, the most there were so far: of the process with queue and worker, and of Redis. */
  get peakRss(): { readonly client: number; readonly redis: number } {
    return { client: peakRssOf(this.#child.pid!), redis: peakRssOf(this.#redis.pid) };
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const exited = once(this.#child, 'exit');
      this.#child.kill('SIGKILL');
      await exited;
    }
    await this.#redis.stop();
  }

  async #answer(): Promise<unknown> {
    const left = new AbortController();
    try {
      const { signal } = left;
      const [answer] = await Promise.race([
        once(this.#child, 'message', { signal }),
        once(this.#child, 'exit', { signal }).then(([code, killer]) => {
          throw new Error(`expected an answer of BullMQ, got its end with ${code ?? killer}`);
        }),
      ]);
      return answer;
    } finally {
      left.abort();
    }
  }
}

export function peakRssOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  return 1024 * Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN);
}

/** Jobs a transaction. */
const BATCH = 100;
const INPUT = JSON.stringify({ path: '/data/inbox/2026/11/29/some-file.iso', size: 123_456_789 });

/**
 * Jobs a second of what any journal has to do at least: insert, mark as begun, mark as ended, a hundred jobs a
 * transaction, on one thread that does nothing else.
 */
export function bareSqlite(synchronous: 'NORMAL' | 'FULL', count: number): number {
  const dir = mkdtempSync(join(tmpdir(), 'colibri-bench-sqlite-'));
  const database = new DatabaseSync(join(dir, 'bare.db'));
  try {
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous};
      CREATE TABLE job (id TEXT PRIMARY KEY, task TEXT, state TEXT, at REAL, input TEXT) WITHOUT ROWID`);
    const insert = database.prepare("INSERT INTO job VALUES (?, 'noop', 'ready', ?, ?)");
    const move = database.prepare('UPDATE job SET state = ?, at = ? WHERE id = ?');
    const startMono = performance.now();
    for (let first = 0; first < count; first += BATCH) {
      database.exec('BEGIN');
      for (let job = first; job < first + BATCH; job++) {
        const id = `noop@2026-11-29T12:00:00.000Z.${job.toString(36).padStart(6, '0')}`;
        insert.run(id, job, INPUT);
        move.run('running', job, id);
        move.run('success', job, id);
      }
      database.exec('COMMIT');
    }
    return count / ((performance.now() - startMono) / 1000);
  } finally {
    database.close();
    rmSync(dir, { recursive: true, force: true });
  }
}
