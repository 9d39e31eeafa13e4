/** Who does the work of `mixed`: colibri in the process that asks, colibri as it is built, and what one puts together. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as passed } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import type { StatusDocument } from '../src/actors/control/index.ts';
import { App } from '../src/main/index.ts';
import { startBenchDaemon } from './bench-daemon.ts';
import { BuiltDaemon, type Target } from './footprint-daemon.ts';
import { loadPeer } from './peers.ts';

export const IN_FLIGHT = 50;
/** Of the built daemon: what it has where its config says nothing. */
export const BUDGET_MB = 40;

/** Each resolves with how long the work itself took, ms. */
export interface MixedContender {
  /** Of the process that does the work. */
  readonly pid: number;
  wait(ms: number): Promise<number>;
  hash(path: string): Promise<number>;
  /** Threads that hash, as it would have them now. */
  threads(): Promise<number>;
  close(): Promise<void>;
}

export const ContenderName = {
  Library: 'colibri',
  BuiltIn: 'colibri, built-in sleep',
  Npm: 'colibri, npm',
  Binary: 'colibri, binary',
  Separate: 'Piscina and p-queue',
  One: 'Piscina, one queue',
} as const;
export type ContenderName = (typeof ContenderName)[keyof typeof ContenderName];

const TASK_FILE = fileURLToPath(new URL('./mixed-task.js', import.meta.url));
const CORES = availableParallelism();

export function createContender(name: ContenderName): Promise<MixedContender> {
  switch (name) {
    case ContenderName.Library:
      return library();
    case ContenderName.BuiltIn:
      return inProcess();
    case ContenderName.Npm:
      return built('npm');
    case ContenderName.Binary:
      return built('binary');
    case ContenderName.Separate:
      return separateQueues();
    case ContenderName.One:
      return oneQueue();
  }
}

const CONFIG = {
  defaults: { max_retry: 0 },
  pools: { io: { slots: IN_FLIGHT } },
  tasks: [
    { name: 'wait', handler: 'sleep', with: { ms: 0 }, overlap: 'allow' },
    { name: 'hash', handler: 'hash', overlap: 'allow' },
  ],
};

/** What the kernel calls a thread of the cpu pool: threads with actors have names of their own. */
const CPU_THREAD = 'WorkerThread';

/** Of this process, as the kernel counts them. */
function namedThreads(name: string): number {
  return readdirSync('/proc/self/task').filter((id) => nameOfThread(id) === name).length;
}

/** Null: it has ended. */
function nameOfThread(id: string): string | null {
  try {
    return readFileSync(`/proc/self/task/${id}/comm`, 'utf8').trim();
  } catch {
    return null;
  }
}

/** As a program writes it: the wait is a function of its own, as in p-queue, the hash runs on a thread. */
async function library(): Promise<MixedContender> {
  const app = new App({
    store: { kind: 'memory' },
    defaults: { maxRetry: 0 },
    pools: { io: { slots: IN_FLIGHT } },
    log: { level: 'warn' },
  });
  const waiting = app.task({ name: 'wait', overlap: 'allow' }, (ms: number) => wait(ms));
  const hashing = app.task({ name: 'hash', handler: 'hash', overlap: 'allow' });
  await app.start();
  return {
    pid: process.pid,
    wait: async (ms) => (await app.trigger(waiting, ms, { wait: true })).durationMs ?? 0,
    hash: async (path) => (await app.trigger(hashing, { path }, { wait: true })).durationMs ?? 0,
    threads: async () => namedThreads(CPU_THREAD),
    close: () => app.stop(),
  };
}

/** A whole daemon: the wait is the handler `sleep`, on the service thread. */
async function inProcess(): Promise<MixedContender> {
  const { daemon, close } = await startBenchDaemon(CONFIG);
  const run = async (task: string, payload: object): Promise<number> => {
    const { ended } = await daemon.runs.ask(
      'trigger',
      { task, payload: JSON.stringify(payload), force: false, wait: true, dueAtMs: null },
      { timeoutMs: null },
    );
    return durationOf(task, ended);
  };
  return {
    pid: process.pid,
    wait: (ms) => run('wait', { ms }),
    hash: (path) => run('hash', { path }),
    threads: async () => daemon.view().pools.find((pool) => pool.name === 'cpu')!.slots,
    close,
  };
}

async function built(target: Target): Promise<MixedContender> {
  const dir = mkdtempSync(join(tmpdir(), 'colibri-mixed-'));
  const daemon = await BuiltDaemon.start(target, dir, { ...CONFIG, memory: { budget_mb: BUDGET_MB } });
  const run = async (task: string, payload: object): Promise<number> => {
    const body = { task, payload, wait: true };
    const answer = (await daemon.control.post('/trigger', { body, timeoutMs: null })) as {
      readonly ended: Parameters<typeof durationOf>[1];
    };
    return durationOf(task, answer.ended);
  };
  return {
    pid: daemon.pid,
    wait: (ms) => run('wait', { ms }),
    hash: (path) => run('hash', { path }),
    async threads() {
      const { pools } = (await daemon.control.get('/status')) as StatusDocument;
      return pools.find((pool) => pool.name === 'cpu')!.slots;
    },
    async close() {
      await daemon.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function durationOf(
  task: string,
  ended: {
    readonly state: string;
    readonly durationMs?: number | null;
    readonly duration_ms?: number;
  } | null,
): number {
  if (ended?.state !== 'success') throw new Error(`${task}: expected success, got ${JSON.stringify(ended)}`);
  return ended.durationMs ?? ended.duration_ms ?? 0;
}

/** What is used of p-queue. */
interface PromiseQueue {
  add<Result>(work: () => Promise<Result>): Promise<Result>;
}

function createPiscina(concurrentTasksPerWorker: number): Piscina {
  return new Piscina({
    filename: TASK_FILE,
    minThreads: CORES,
    maxThreads: CORES,
    concurrentTasksPerWorker,
  });
}

/** Waits in p-queue, hashes in Piscina's own queue. */
async function separateQueues(): Promise<MixedContender> {
  const peer = (await loadPeer('p-queue')) as {
    readonly default: new (options: { concurrency: number }) => PromiseQueue;
  } | null;
  if (peer === null) throw new Error('expected p-queue, got none');
  const queue = new peer.default({ concurrency: IN_FLIGHT });
  const piscina = createPiscina(1);
  return {
    pid: process.pid,
    wait: (ms) => queue.add(() => wait(ms)),
    hash: (path) => piscina.run({ path }),
    threads: async () => piscina.threads.length,
    close: () => piscina.destroy(),
  };
}

async function wait(ms: number): Promise<number> {
  const startMono = performance.now();
  await passed(ms);
  return performance.now() - startMono;
}

/** Both on the same threads: as many at a time on each as it takes for all that is in flight. */
async function oneQueue(): Promise<MixedContender> {
  const piscina = createPiscina(Math.ceil(IN_FLIGHT / CORES));
  return {
    pid: process.pid,
    wait: (ms) => piscina.run({ ms }, { name: 'wait' }),
    hash: (path) => piscina.run({ path }),
    threads: async () => piscina.threads.length,
    close: () => piscina.destroy(),
  };
}
