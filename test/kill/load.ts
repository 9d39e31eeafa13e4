/** Triggers over the control socket and files into the inbox, until it is stopped; what is acknowledged is written down. */
import { appendFileSync } from 'node:fs';
import { setTimeout as passed } from 'node:timers/promises';
import { ColibriError } from '../../src/actors/kernel/errors.ts';
import type { ControlClient } from '../../src/main/cli/client.ts';
import type { Inbox } from './files.ts';
import { CANCELLED, type Graph } from './graphs.ts';
import type { Random } from './random.ts';
import { nextTrigger } from './workload.ts';

/** Requests at a time; the daemon takes 64 connections. */
const LANES = 6;
/** Between two triggers of a lane. */
const PAUSE_MS = { least: 0, most: 40 } as const;
const FEED_MS = { least: 20, most: 150 } as const;
/** After an answer that there is nobody, or no room. */
const REFUSED_MS = 20;

/** Refusals that a daemon under fire may give. */
const EXPECTED: ReadonlySet<string> = new Set([
  'no-daemon',
  'shutting-down',
  'queue-full',
  'thread-lost',
  'store-unavailable',
]);

/** The ids of triggers that were acknowledged. */
export class Acknowledged {
  readonly #file: string;
  readonly #runs = new Set<string>();
  /** Ids given out twice. */
  readonly doubles: string[] = [];
  /** Of flows: somebody asked for their end. A step that fails at that moment is not tried again. */
  readonly cancelled = new Set<string>();

  constructor(file: string) {
    this.#file = file;
  }

  add(run: string): void {
    if (this.#runs.has(run)) this.doubles.push(run);
    this.#runs.add(run);
    appendFileSync(this.#file, `${run}\n`);
  }

  has(run: string): boolean {
    return this.#runs.has(run);
  }

  get size(): number {
    return this.#runs.size;
  }

  [Symbol.iterator](): Iterator<string> {
    return this.#runs[Symbol.iterator]();
  }
}

export interface LoadOptions {
  readonly control: ControlClient;
  readonly random: Random;
  readonly inbox: Inbox;
  readonly acknowledged: Acknowledged;
  readonly graphs: readonly Graph[];
  /** Refusals by code. */
  readonly refusals: Map<string, number>;
  /** A refusal that no daemon should give. */
  readonly onUnexpected: (text: string) => void;
}

export class Load {
  readonly #options: LoadOptions;
  readonly #lanes: Promise<unknown>;
  #stopped = false;

  /** Begins at once. */
  constructor(options: LoadOptions) {
    this.#options = options;
    const lanes = Array.from({ length: LANES }, () => this.#lane(options.random.fork()));
    this.#lanes = Promise.all([...lanes, this.#feed(options.random.fork())]);
  }

  /** Resolves when nothing of it is open any more. Idempotent. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#lanes;
  }

  async #lane(random: Random): Promise<void> {
    const { control, acknowledged, graphs } = this.#options;
    while (!this.#stopped) {
      try {
        const body = nextTrigger(random, graphs);
        const { run } = (await control.post('/trigger', { body })) as { run: string };
        acknowledged.add(run);
        if (graphs.some(({ flow }) => flow === body.task)) await this.#maybeCancel(run, random);
      } catch (error) {
        this.#refused(error);
        await passed(REFUSED_MS);
      }
      await passed(random.between(PAUSE_MS.least, PAUSE_MS.most));
    }
  }

  async #maybeCancel(run: string, random: Random): Promise<void> {
    if (random.between(1, 100) > CANCELLED) return;
    await passed(random.between(PAUSE_MS.least, PAUSE_MS.most));
    this.#options.acknowledged.cancelled.add(run);
    await cancel(this.#options.control, run);
  }

  async #feed(random: Random): Promise<void> {
    while (!this.#stopped) {
      this.#options.inbox.feed(random);
      await passed(random.between(FEED_MS.least, FEED_MS.most));
    }
  }

  #refused(error: unknown): void {
    const { refusals, onUnexpected } = this.#options;
    const code = error instanceof ColibriError ? error.code : 'unknown';
    refusals.set(code, (refusals.get(code) ?? 0) + 1);
    if (!EXPECTED.has(code)) onUnexpected(`${code}: ${error instanceof Error ? error.message : error}`);
  }
}

/** Of a run that may be over by now. */
export async function cancel(control: ControlClient, run: string): Promise<void> {
  try {
    await control.post(`/runs/${encodeURIComponent(run)}/cancel`, {});
  } catch (error) {
    if (!(error instanceof ColibriError) || error.code !== 'no-such-run') throw error;
  }
}
