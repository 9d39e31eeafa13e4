/**
 * The store as an actor. Data goes one way: runs → store → telemetry; what is acknowledged to the runs is kept.
 *
 *   record ─▶ applied ─ no more wait, or enough ─▶ commit ─▶ mark forward, runs told, telemetry told
 *                                                    └ trouble ─▶ mark open, runs told once, probes ─▶ runs send again
 *
 * A scan's offer passes through here, so that the question "is this file done?" and its passing on to the runs
 * happen in one turn: the acknowledgement of a run's end cannot overtake it on the way to main, and a file
 * that ends in between is still live there and recognised.
 */
import { assertNever, ColibriError } from '../kernel/errors.ts';
import type {
  ActorContext,
  ActorDefinition,
  ActorRef,
  Answer,
  Behaviour,
  ClockTimer,
  EnvelopeOf,
  SharedMark,
} from '../kernel/index.ts';
import { MAILBOXES } from '../mailboxes.ts';
import {
  ActorName,
  type LogRecord,
  type RunsMessages,
  type StoreMessages,
  type TelemetryMessages,
} from '../protocol.ts';
import type { RecordBatch, RunEvent } from '../records.ts';
import type { ResultFolder } from '../results/result-folder.ts';
import { judgement, partOf } from '../results/result-questions.ts';
import { storeChecks } from './message-checks.ts';
import { Appended, type Store, StoreTrouble } from './store.ts';

export interface StoreActorOptions {
  readonly openStore: () => Store;
  /** Moved forward with each commit, opened while there can be none. */
  readonly mark: SharedMark;
  /** Where large results are; null: there are none. */
  readonly results: ResultFolder | null;
}

/** A commit is not put off beyond so many transitions. */
const COMMIT_EVENTS = 2048;
/**
 * After a commit that took so long, the next one is put off a little: all else on this thread needs several turns of
 * its event loop, and would otherwise wait for the disk in each of them.
 */
const SLOW_COMMIT_MS = 20;
const BREATH_MS = 20;
/** Nothing has come for so long: the store rests. */
const REST_MS = 1000;
/** Files that no result refers to are looked for so often, and are at least so old. */
const SWEEP_RESULTS_MS = 3_600_000;
const PROBE_MS = { first: 1000, most: 10_000 } as const;
/**
 * A trouble that comes again within this time is still the same one: on a disk that is full to the last page, a small
 * write succeeds and the next one fails. Each is told to main, and only one beginning and one end to the log.
 */
const SETTLED_MS = 2000;

export function storeActor(options: StoreActorOptions): ActorDefinition<StoreMessages> {
  return {
    name: ActorName.Store,
    mailbox: MAILBOXES.store,
    checks: storeChecks,
    // Only main can open it again, and it does so when the thread has ended and begun anew.
    restart: { maxRestarts: 0, withinMs: 1 },
    create: (context) => new StoreBehaviour(options, context),
  };
}

class StoreBehaviour implements Behaviour<StoreMessages> {
  readonly #mark: SharedMark;
  readonly #context: ActorContext;
  readonly #store: Store;
  readonly #results: ResultFolder | null;
  readonly #runs: ActorRef<RunsMessages>;
  readonly #telemetry: ActorRef<TelemetryMessages>;
  #opened = false;
  /** Applied and not committed: told to telemetry when they are. */
  #events: (readonly RunEvent[])[] = [];
  #uncommitted = 0;
  /** Something is to be committed or acknowledged. */
  #owing = false;
  #commitPlanned = false;
  /** How long the last one took. */
  #commitMs = 0;
  /** It cannot write now. */
  #inTrouble = false;
  /** When the trouble began that the log was told of, wall time; null: there is none. */
  #toldAtMs: number | null = null;
  #settling: ClockTimer | null = null;
  #sweepMono = 0;
  #probing: ClockTimer | null = null;
  #resting: ClockTimer | null = null;

  constructor({ openStore, mark, results }: StoreActorOptions, context: ActorContext) {
    this.#mark = mark;
    this.#context = context;
    this.#store = openStore();
    this.#results = results;
    this.#runs = context.ref<RunsMessages>(ActorName.Runs);
    this.#telemetry = context.ref<TelemetryMessages>(ActorName.Telemetry);
  }

  receive(envelope: EnvelopeOf<StoreMessages>, answer: Answer): void | Promise<void> {
    if (envelope.kind === 'record') return this.#record(envelope.body);
    try {
      if (!this.#opened && envelope.kind !== 'open') throw new StoreTrouble('the journal is not opened yet');
      return this.#question(envelope, answer);
    } catch (error) {
      if (error instanceof StoreTrouble) answer.fail(new ColibriError('store-unavailable', error.message));
      else if (error instanceof ColibriError) answer.fail(error);
      else throw error;
    }
  }

  async stop(): Promise<void> {
    try {
      // Main may still wait to hear of the last ones.
      if (this.#opened) await this.#commit();
    } finally {
      this.#probing?.cancel();
      this.#settling?.cancel();
      this.#resting?.cancel();
      this.#store.close();
    }
  }

  #question(
    envelope: Exclude<EnvelopeOf<StoreMessages>, { kind: 'record' }>,
    answer: Answer,
  ): void | Promise<void> {
    const store = this.#store;
    switch (envelope.kind) {
      case 'open':
        return answer.ok(this.#open(envelope.body));
      case 'unfinished':
        return answer.ok(store.unfinished(envelope.body.after));
      case 'delayed':
        return answer.ok(store.delayed(envelope.body.after));
      case 'delayed-run':
        return answer.ok(store.delayedRun(envelope.body.run));
      case 'letters':
        return answer.ok(store.letters(envelope.body.after));
      case 'flow-steps':
        return answer.ok(store.flowSteps(envelope.body));
      case 'results': {
        const { runs, mostLength } = envelope.body;
        return answer.ok({ results: store.results(runs, mostLength) });
      }
      case 'kept-results':
        return answer.ok({ runs: store.keptResults(envelope.body.runs) });
      case 'result-part':
        return answer.ok(this.#inResult(envelope.body.file, (value) => partOf(value, envelope.body.path)));
      case 'judge-result': {
        const { file, expectation, lastGood } = envelope.body;
        return answer.ok(this.#inResult(file, (value) => judgement(expectation, value, lastGood)));
      }
      case 'mount':
        return answer.ok({ handledMs: store.mount(envelope.body) });
      case 'last-ends':
        return answer.ok({ ends: store.lastEnds() });
      case 'list':
        return answer.ok(store.list(envelope.body));
      case 'show':
        return answer.ok(store.show(envelope.body.run));
      case 'usage':
        return answer.ok(store.usage());
      case 'audit':
        return this.#audit(envelope.body);
      case 'audit-list':
        return answer.ok(store.audits(envelope.body.limit));
      case 'backup':
        // Not awaited: records go on meanwhile.
        store.backup(envelope.body.file).then(
          (bytes) => answer.ok({ bytes }),
          (error: unknown) => answer.fail(error),
        );
        return;
      case 'offer':
        return this.#offer(envelope.body, answer);
      default:
        return assertNever(envelope, 'message to the store');
    }
  }

  #open({ boot, kept }: StoreMessages['open']['body']): StoreMessages['open']['reply'] {
    // Of a daemon that was told of something before.
    const continues = kept > 0;
    const opening = this.#store.open(boot, kept);
    this.#opened = true;
    this.#takeUpResults(continues);
    this.#mark.advance(this.#store.kept);
    this.#mark.setOpen(false);
    if (opening.setAside !== null) {
      this.#log('error', 'journal was damaged and set aside', { file: opening.setAside });
    }
    return opening;
  }

  /** What was written and not recorded when the last daemon ended is nobody's. Of this daemon, somebody may be at it. */
  #takeUpResults(continues: boolean): void {
    if (this.#results === null) return;
    if (!continues) this.#results.takeUp(this.#store.resultFiles());
    this.#sweepMono = this.#context.clock.monoMs() + SWEEP_RESULTS_MS;
  }

  #record(batch: RecordBatch): void | Promise<void> {
    // Before it is opened, and in trouble: main sends it again.
    if (!this.#opened || this.#inTrouble) return;
    this.#resting?.cancel();
    this.#resting = null;
    try {
      const appended = this.#store.append(batch);
      if (appended === Appended.Gap) return;
      if (appended === Appended.Applied) {
        this.#events.push(batch.events);
        this.#uncommitted += batch.events.length;
      }
    } catch (error) {
      return this.#fail(error);
    }
    this.#owing = true;
    if (this.#uncommitted >= COMMIT_EVENTS) return this.#commit();
    this.#commitSoon();
  }

  /** When nothing more waits: what came in one turn is one commit. */
  #commitSoon(): void {
    if (this.#commitPlanned) return;
    this.#commitPlanned = true;
    const commit = (): void => {
      this.#commitPlanned = false;
      void this.#commit();
    };
    if (this.#commitMs < SLOW_COMMIT_MS) setImmediate(commit);
    else this.#context.clock.setTimer(BREATH_MS, commit);
  }

  async #commit(): Promise<void> {
    if (!this.#owing) return;
    this.#owing = false;
    const events = this.#events;
    this.#events = [];
    this.#uncommitted = 0;
    const { clock } = this.#context;
    const beganMono = clock.monoMs();
    try {
      this.#store.commit();
    } catch (error) {
      return this.#fail(error);
    }
    this.#commitMs = clock.monoMs() - beganMono;
    const { kept } = this.#store;
    this.#removeForgotten();
    this.#mark.advance(kept);
    this.#restLater();
    try {
      await this.#runs.tell('recorded', { seq: kept });
      for (const some of events) await this.#telemetry.tell('runs', { events: some });
    } catch {
      // Whoever is told is gone: so will this thread be.
    }
  }

  #fail(error: unknown): void {
    this.#events = [];
    this.#uncommitted = 0;
    this.#owing = false;
    if (!(error instanceof StoreTrouble)) throw error;
    if (this.#inTrouble) return;
    this.#inTrouble = true;
    this.#settling?.cancel();
    this.#mark.setOpen(true);
    if (this.#toldAtMs === null) {
      this.#toldAtMs = this.#context.clock.wallMs();
      this.#log('warn', 'journal cannot be written', { reason: error.message });
    }
    this.#runs.tell('store-state', { writable: false, reason: error.message }).catch(() => {});
    this.#probeLater(PROBE_MS.first);
  }

  #probeLater(waitMs: number): void {
    this.#probing = this.#context.clock.setTimer(waitMs, () => this.#probe(waitMs));
  }

  /** A write of nothing. What is to be kept comes again from main, which has all of it. */
  #probe(waitMs: number): void {
    try {
      this.#store.append({ first: this.#store.kept + 1, events: [], dropped: [] });
      this.#store.commit();
    } catch (error) {
      if (!(error instanceof StoreTrouble)) throw error;
      return this.#probeLater(Math.min(2 * waitMs, PROBE_MS.most));
    }
    this.#inTrouble = false;
    this.#mark.advance(this.#store.kept);
    this.#mark.setOpen(false);
    this.#runs.tell('store-state', { writable: true }).catch(() => {});
    const { clock } = this.#context;
    const afterMs = clock.wallMs() - (this.#toldAtMs ?? 0);
    this.#settling = clock.setTimer(SETTLED_MS, () => {
      this.#toldAtMs = null;
      this.#log('info', 'journal is written again', { after_ms: afterMs });
    });
    this.#settling.unref();
  }

  #restLater(): void {
    if (this.#resting !== null) return;
    this.#resting = this.#context.clock.setTimer(REST_MS, () => {
      this.#resting = null;
      this.#store.rest();
      this.#sweepResults();
    });
    this.#resting.unref();
  }

  #removeForgotten(): void {
    try {
      this.#results?.remove(this.#store.forgottenFiles());
    } catch (error) {
      // They stay until the next sweep; whoever writes next meets the same trouble.
      if (!(error instanceof StoreTrouble)) throw error;
    }
  }

  #sweepResults(): void {
    const { clock } = this.#context;
    if (this.#results === null || clock.monoMs() < this.#sweepMono) return;
    this.#sweepMono = clock.monoMs() + SWEEP_RESULTS_MS;
    try {
      this.#results.sweep(this.#store.resultFiles(), clock.wallMs() - SWEEP_RESULTS_MS);
    } catch (error) {
      if (!(error instanceof StoreTrouble)) throw error;
    }
  }

  /** Within the file of a result. */
  #inResult<T>(file: string, look: (value: unknown) => T): T {
    if (this.#results === null) {
      throw new ColibriError('input-invalid', 'expected a folder for the files of results, got none');
    }
    return look(this.#results.read(file));
  }

  #audit(entry: StoreMessages['audit']['body']): void {
    // The log has it too.
    if (!this.#opened || this.#inTrouble) return;
    try {
      this.#store.audit(entry);
    } catch (error) {
      return this.#fail(error);
    }
    this.#owing = true;
    this.#commitSoon();
  }

  #offer(body: StoreMessages['offer']['body'], answer: Answer): void {
    const marks = body.items.map((item) => item.mark);
    const marked = this.#store.marked(body.task, marks);
    const items = body.items.filter((item) => !marked.has(item.mark));
    if (items.length === 0) {
      return answer.ok({ accepted: 0, known: body.items.length, rejected: 0, rest: [] });
    }
    // Not awaited: a full ready queue may hold the answer back for long, and records must go on.
    this.#runs.ask('offer', { ...body, items }, { timeoutMs: null }).then(
      (reply) => answer.ok({ ...reply, known: reply.known + marked.size }),
      (error: unknown) => answer.fail(error),
    );
  }

  #log(level: LogRecord['level'], msg: string, fields: Readonly<Record<string, unknown>>): void {
    this.#telemetry.tryTell('log', { level, atMs: this.#context.clock.wallMs(), msg, fields });
  }
}
