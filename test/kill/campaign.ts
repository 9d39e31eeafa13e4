/**
 * A campaign: one state directory, one life of a daemon after the other under load, each ended at a random moment.
 *
 *   start ─▶ ready ─▶ checks ─▶ load ─ moment ─▶ kill -9 | SIGTERM | service thread lost, then kill -9 ─▶ start …
 *     └─ moment of some: before it is ready, or right after it, without checks
 *
 * Every few lives all is let come to its end, and held against the ledger, the files and the journal.
 */
import { join } from 'node:path';
import { setTimeout as passed } from 'node:timers/promises';
import { withoutTypes } from '../support/program.ts';
import { Inbox } from './files.ts';
import { orderViolations, randomGraphs } from './graphs.ts';
import { journalViolations } from './journal-files.ts';
import { Load } from './load.ts';
import type { Random } from './random.ts';
import { RESTART_LIMIT_MS, Stage, type StageOptions } from './stage.ts';
import type { Exit, Victim } from './victim.ts';
import { overlapViolations, scheduleViolations } from './violations.ts';
import { BEATS, EVERY_SECOND, GRACE_SECONDS, SERIAL, taskOf } from './workload.ts';

export const RoundKind = { Kill: 'kill', Term: 'term', Service: 'service' } as const;
export type RoundKind = (typeof RoundKind)[keyof typeof RoundKind];

export interface CampaignOptions extends StageOptions {
  readonly random: Random;
  readonly rounds: readonly RoundKind[];
  /** Lives between two times that all is let come to its end. */
  readonly settleEvery: number;
  /** The latest moment of an end, after `ready`, ms. */
  readonly latestMs: number;
  readonly onProgress?: (text: string) => void;
}

const STOP_LIMIT_MS = GRACE_SECONDS * 1000 + 1000;
const EARLIEST_MS = 50;
const SETTLE_LIMIT_MS = 30_000;
const FILES_LOOK_MS = 100;
/** Runs looked at after a start; what is left over waits for the next time that all comes to its end. */
const MOST_LOOKS = 250;
const HELD_EXIT = 75;
const GRAPHS = { count: 4, most: 9 };
/** For a life that loses its service thread. */
const PRELOAD = withoutTypes(join(import.meta.dirname, 'preload-lose-service.cts'));

/** When a life is ended: so long after its start (`starting`) or after its `ready`. */
interface Moment {
  readonly phase: 'starting' | 'early' | 'working';
  readonly afterMs: number;
}
/** Of a hundred. */
const PHASES = { starting: 10, early: 25 } as const;
const LATEST_MS = { starting: 250, early: 100 } as const;

export class Campaign {
  readonly stage: Stage;
  readonly #options: CampaignOptions;
  readonly #random: Random;
  readonly #inbox: Inbox;
  readonly #refusals = new Map<string, number>();

  constructor(options: CampaignOptions) {
    this.#options = options;
    this.#random = options.random;
    this.stage = new Stage({ ...options, graphs: randomGraphs(options.random.fork(), GRAPHS) });
    this.#inbox = new Inbox(options.dir);
  }

  /** Rejects where a daemon cannot be started any more. */
  async run(): Promise<void> {
    const { rounds, settleEvery, onProgress } = this.#options;
    const { stage } = this;
    for (const [index, kind] of rounds.entries()) {
      stage.where = `round ${index + 1}, ${kind}`;
      await this.#round(kind);
      stage.figures.count(`rounds: ${kind}`);
      const last = index === rounds.length - 1;
      if (!last && (index + 1) % settleEvery !== 0) continue;
      stage.where = `all at its end after round ${index + 1}`;
      await this.#settle(last);
      onProgress?.(`${index + 1} of ${rounds.length} rounds: ${this.#summary()}`);
    }
    this.#count();
  }

  async #round(kind: RoundKind): Promise<void> {
    const { stage } = this;
    const moment = this.#moment(kind);
    const victim = stage.spawn(kind === RoundKind.Service ? { preloads: [PRELOAD] } : {});
    stage.where += `, life ${stage.lives}, ${moment.phase} + ${moment.afterMs} ms`;
    try {
      if (moment.phase === 'starting') {
        await passed(moment.afterMs);
        await this.#end(victim, kind, moment);
        return;
      }
      await stage.ready(victim);
      if (moment.phase === 'working') await this.#afterStart(victim);
      const load = this.#load(victim);
      try {
        await passed(moment.afterMs);
        if (kind === RoundKind.Service) await this.#loseService(victim);
        await this.#end(victim, kind, moment);
      } finally {
        await load.stop();
      }
      this.#lookForBeat(victim);
    } finally {
      await victim.kill();
    }
  }

  #moment(kind: RoundKind): Moment {
    const random = this.#random;
    const draw = kind === RoundKind.Service ? 100 : random.between(1, 100);
    if (draw <= PHASES.starting) return { phase: 'starting', afterMs: random.between(0, LATEST_MS.starting) };
    if (draw <= PHASES.starting + PHASES.early)
      return { phase: 'early', afterMs: random.between(0, LATEST_MS.early) };
    return { phase: 'working', afterMs: random.between(EARLIEST_MS, this.#options.latestMs) };
  }

  async #afterStart({ control, spawnedAtMs }: Victim): Promise<void> {
    await this.stage.inspection.afterStart(control, spawnedAtMs);
    await this.stage.inspection.look(control, MOST_LOOKS);
  }

  #load({ control }: Victim): Load {
    return new Load({
      control,
      random: this.#random.fork(),
      inbox: this.#inbox,
      acknowledged: this.stage.acknowledged,
      graphs: this.stage.graphs,
      refusals: this.#refusals,
      onUnexpected: (text) => this.stage.report({ rule: 'refused', text }),
    });
  }

  async #end(victim: Victim, kind: RoundKind, { phase }: Moment): Promise<void> {
    if (!victim.alive) {
      const { code, signal } = await victim.exited;
      this.stage.report({ rule: 'died', text: `ended by itself with ${code ?? signal}: ${victim.stderr}` });
    } else if (kind === RoundKind.Term) await this.#terminate(victim, phase);
    else await victim.kill();
  }

  async #terminate(victim: Victim, phase: Moment['phase']): Promise<void> {
    const { code, signal, tookMs, pressureMs } = await victim.terminate();
    const { stage } = this;
    // Before the program has put up its handlers the signal ends it as it ends any process.
    const inOrder = code === 0 || (phase === 'starting' && signal === 'SIGTERM');
    if (!inOrder) stage.report({ rule: 'stop', text: `SIGTERM ended it with ${code ?? signal}` });
    stage.figures.time('SIGTERM to exit', tookMs);
    if (tookMs > STOP_LIMIT_MS + pressureMs) {
      stage.report({ rule: 'stop', text: `exit ${Math.round(tookMs)} ms after SIGTERM` });
    }
  }

  async #loseService(victim: Victim): Promise<void> {
    const { stage } = this;
    const { tookMs, pressureMs } = await victim.loseService();
    stage.figures.time('service thread lost to its answers', tookMs);
    if (tookMs > RESTART_LIMIT_MS + pressureMs) {
      stage.report({ rule: 'late', text: `answers ${Math.round(tookMs)} ms after the loss of the thread` });
    }
    await stage.inspection.look(victim.control, MOST_LOOKS);
    await passed(this.#random.between(0, EARLIEST_MS));
  }

  /** A new occurrence began in time, or the life was too short for one. */
  #lookForBeat({ pid, spawnedAtMs, pressureMs }: Victim): void {
    const { ledger, figures } = this.stage;
    ledger.read();
    const first = ledger
      .begunIn(pid)
      .find(({ run, atMs }) => atMs >= spawnedAtMs && BEATS.includes(taskOf(run)));
    const tookMs = (first?.atMs ?? Date.now()) - spawnedAtMs;
    if (first !== undefined) figures.time('exec to the first scheduled run', tookMs);
    if (tookMs > RESTART_LIMIT_MS + pressureMs) {
      this.stage.report({ rule: 'late', text: `${tookMs} ms from exec without a scheduled run` });
    }
  }

  /** All that was taken in comes to its end, and is held against everything. */
  async #settle(last: boolean): Promise<void> {
    const { stage } = this;
    const { inspection } = stage;
    const victim = stage.spawn();
    const { control } = victim;
    try {
      await stage.ready(victim);
      await this.#afterStart(victim);
      await inspection.drained(control, SETTLE_LIMIT_MS);
      await this.#filesDone();
      await inspection.drained(control, SETTLE_LIMIT_MS);
      // A file whose run was interrupted too often is a dead letter, and done when that is replayed.
      await inspection.clearLetters(control, await inspection.deadLetters(control));
      await this.#filesDone();
      stage.report(...this.#inbox.violations());
      await inspection.drained(control, SETTLE_LIMIT_MS);
      stage.report(...scheduleViolations(EVERY_SECOND, stage.ledger.runs, Date.now() - RESTART_LIMIT_MS));
      stage.report(...overlapViolations(SERIAL, stage.ledger.lines));
      stage.report(...orderViolations(stage.graphs, stage.ledger.lines));
      await inspection.flows(control);
      await this.#second();
      if (last) await inspection.lookAgain(control);
      this.#inbox.clear();
      if (this.#random.chance(0.5)) await victim.kill();
      else await this.#terminate(victim, 'working');
      this.#lookForBeat(victim);
      stage.report(...journalViolations(stage.stateDir));
    } finally {
      await victim.kill();
    }
  }

  async #filesDone(): Promise<void> {
    const endMono = performance.now() + SETTLE_LIMIT_MS / 2;
    while (this.#inbox.violations().length > 0 && performance.now() < endMono) await passed(FILES_LOOK_MS);
  }

  /** One more daemon on the same state directory is refused. */
  async #second(): Promise<void> {
    const { code, signal }: Exit = await this.stage.spawn().exited;
    if (code === HELD_EXIT) return;
    const text = `expected a second daemon to exit with ${HELD_EXIT}, got ${code ?? signal}`;
    this.stage.report({ rule: 'lock', text });
  }

  #count(): void {
    const { figures, acknowledged, ledger, inspection } = this.stage;
    figures.count('triggers acknowledged', acknowledged.size);
    for (const [code, count] of this.#refusals) figures.count(`triggers not acknowledged: ${code}`, count);
    figures.count('runs in the ledger', [...ledger.runs].length);
    figures.count('lines of the ledger cut short', ledger.torn);
    figures.count('attempts interrupted', inspection.interruptions);
    figures.count('runs of flows', inspection.flowsSeen);
    figures.count('files', this.#inbox.fed);
  }

  #summary(): string {
    const { acknowledged, inspection, violations } = this.stage;
    return `${acknowledged.size} acknowledged, ${inspection.interruptions} attempts interrupted, ${violations.length} violations`;
  }
}
