/**
 * The Store in SQLite: what was appended is in a transaction that the next `commit` ends. What it holds in memory is a
 * cache of pages and a few counters.
 *
 *   append ─▶ transaction ─ commit ─▶ kept          trouble ─▶ rolled back, as of the last commit
 */
import { ColibriError, toErrorData } from '../../kernel/errors.ts';
import type { DelayedPlace, RunFilter, StepsPlace, StoreMessages, StoreOpening } from '../../protocol.ts';
import type { AuditEntry, LastEnd, RecordBatch, StoredRun, StoredStep } from '../../records.ts';
import type { RunView } from '../../views/run-view.ts';
import {
  Appended,
  type Retention,
  STEPS_PAGE,
  type Store,
  StoreTrouble,
  type StoreUsage,
  textsUpTo,
} from '../store.ts';
import { applyEvent, type Connection } from './apply-event.ts';
import { backUp } from './backup.ts';
import { JournalBounds } from './bounds.ts';
import type { Database } from './database.ts';
import { LastEnds } from './last-ends.ts';
import { isDamage, type OpenJournalOptions, openJournal } from './open-journal.ts';
import { auditOf, letterOf, PAGE_ROWS, pageOf, storedRunOf, storedStepOf, viewOf } from './rows.ts';
import { prepareStatements } from './statements.ts';
import { TaskMarks } from './task-marks.ts';
import { troubleOf } from './trouble.ts';

export interface SqliteStoreOptions extends OpenJournalOptions {
  readonly retention: Retention;
}

/** Free pages given back in one rest: 4 MB. */
const REST_PAGES = 1024;

export class SqliteStore implements Store {
  readonly abilities = { durable: true } as const;
  readonly #options: SqliteStoreOptions;
  #connection: Connection | null = null;
  #boot = '';
  /** Runs that are due later than this were not there when the store was opened. */
  #openedAtMs = 0;
  #kept = 0;
  /** Ordinal of the last transition in the open transaction. */
  #staged = 0;
  #closed = false;
  #written = false;
  /** A question failed, and what was in the transaction went with it: the next write says so. */
  #lost: StoreTrouble | null = null;
  /** No damage was met: the next start need not look for any. */
  #sound = true;

  constructor(options: SqliteStoreOptions) {
    this.#options = options;
  }

  get kept(): number {
    return this.#kept;
  }

  open(boot: string, kept: number): StoreOpening {
    this.#openedAtMs = Math.floor(this.#options.nowMs());
    const { taken, setAside } = openJournal(this.#options, true, (database) => {
      const connection = this.#connect(database);
      const { statements } = connection;
      const before = statements.boot.get();
      const continues = before?.boot === boot;
      const reached = continues ? Math.max(Number(before?.kept), kept) : kept;
      const crashed = before?.clean === 0 && !continues;
      const delayed = Number(statements.countDelayed.get(this.#openedAtMs)?.n);
      const unfinished = Number(statements.countLive.get()?.n) - delayed;
      const letters = Number(statements.countLetters.get()?.n);
      statements.setBoot.run(boot, reached);
      return { connection, reached, crashed, unfinished, letters, delayed };
    });
    const { connection, reached, crashed, unfinished, letters, delayed } = taken;
    this.#connection = connection;
    this.#boot = boot;
    this.#kept = reached;
    this.#staged = reached;
    return { durable: true, crashed: crashed || setAside !== null, setAside, unfinished, letters, delayed };
  }

  append(batch: RecordBatch): Appended {
    this.#tellLost();
    const last = batch.first + batch.events.length - 1;
    // One that only drops letters is known when something after it is: batches come in order.
    if (Math.max(last, batch.first) <= this.#staged) return Appended.Known;
    if (batch.first > this.#staged + 1) return Appended.Gap;
    return this.#guarded(() => {
      const connection = this.#begun();
      for (const event of batch.events.slice(this.#staged + 1 - batch.first)) applyEvent(event, connection);
      for (const run of batch.dropped) {
        connection.bounds.count(Number(connection.statements.letterDropped.run(run).changes), 0);
      }
      this.#staged = Math.max(this.#staged, last);
      return Appended.Applied;
    });
  }

  commit(): void {
    this.#tellLost();
    if (this.#connection?.database.isTransaction !== true) return;
    this.#guarded(() => {
      const { statements, bounds, ends } = this.#begun();
      ends.write();
      bounds.prune();
      // Where the file was taken away meanwhile, its successor does not know of this boot.
      statements.setBoot.run(this.#boot, this.#staged);
      statements.commit.run();
      this.#kept = this.#staged;
      this.#written = true;
    });
  }

  list({ task, state, limit }: RunFilter): readonly RunView[] {
    return this.#asked(({ statements }) => statements.list.all(task, state, limit).map(viewOf));
  }

  show(run: string): RunView | null {
    return this.#asked(({ statements }) => {
      const row = statements.show.get(run);
      return row === undefined ? null : viewOf(row);
    });
  }

  marked(task: string, marks: readonly string[]): ReadonlySet<string> {
    return this.#asked((connection) => connection.marks.of(task, marks));
  }

  unfinished(after: number): StoreMessages['unfinished']['reply'] {
    return this.#asked(({ statements }) => {
      const { rows, more } = pageOf(statements.unfinished.iterate(after, this.#openedAtMs, PAGE_ROWS + 1));
      return { runs: rows.map(storedRunOf), next: more ? (rows.at(-1)!.position as number) : null };
    });
  }

  delayed({ dueAtMs, position }: DelayedPlace): StoreMessages['delayed']['reply'] {
    return this.#asked(({ statements }) => {
      const { rows, more } = pageOf(statements.delayed.iterate(dueAtMs, position, PAGE_ROWS + 1));
      const last = rows.at(-1);
      const next =
        more && last !== undefined
          ? { dueAtMs: last.due_ms as number, position: last.position as number }
          : null;
      return { runs: rows.map(storedRunOf), next };
    });
  }

  delayedRun(run: string): StoredRun | null {
    return this.#asked(({ statements }) => {
      const row = statements.delayedRun.get(run);
      return row === undefined ? null : storedRunOf(row);
    });
  }

  /** Positions are places in the order of death: nothing is added or dropped while pages are asked for. */
  letters(after: number): StoreMessages['letters']['reply'] {
    return this.#asked(({ statements }) => {
      const { rows, more } = pageOf(statements.letters.iterate(after, PAGE_ROWS + 1));
      return { letters: rows.map(letterOf), next: more ? after + rows.length : null };
    });
  }

  flowSteps({ flows, after }: StepsPlace): StoreMessages['flow-steps']['reply'] {
    return this.#asked(({ statements }) => {
      const steps: StoredStep[] = [];
      let from = after;
      for (let at = 0; at < flows.length; at++) {
        const room = STEPS_PAGE - steps.length;
        const rows = room <= 0 ? [] : statements.flowSteps.all(flows[at]!, from, room);
        steps.push(...rows.map(storedStepOf));
        if (rows.length === room || room <= 0) {
          const last = rows.at(-1)?.position ?? from;
          return { steps, next: { flows: flows.slice(at), after: last as number } };
        }
        from = 0;
      }
      return { steps, next: null };
    });
  }

  results(runs: readonly string[], mostLength?: number): readonly (string | null)[] {
    return this.#asked(({ statements }) =>
      textsUpTo(runs, (run) => (statements.result.get(run)?.result ?? null) as string | null, mostLength),
    );
  }

  keptResults(runs: readonly string[]): readonly string[] {
    return this.#asked(({ statements }) => runs.filter((run) => statements.hasResult.get(run) !== undefined));
  }

  mount({ atMs, schedules }: StoreMessages['mount']['body']): readonly number[] {
    return this.#asked(() => {
      const { statements } = this.#begun();
      const known = new Map(statements.schedules.all().map((row) => [row.task, row]));
      const handledMs = schedules.map(({ task, schedule }) => {
        const row = known.get(task);
        known.delete(task);
        if (row?.schedule === schedule) return row.handled_ms as number;
        statements.setSchedule.run(task, schedule, Math.floor(atMs));
        return atMs;
      });
      for (const task of known.keys()) statements.deleteSchedule.run(task as string);
      this.commit();
      return handledMs;
    });
  }

  lastEnds(): readonly LastEnd[] {
    return this.#asked(({ ends }) => ends.all());
  }

  audit({ atMs, actor, action, target, fields }: AuditEntry): void {
    this.#tellLost();
    this.#guarded(() => {
      const { statements, bounds } = this.#begun();
      statements.addAudit.run(Math.floor(atMs), actor, action, target, JSON.stringify(fields));
      bounds.countAudit();
    });
  }

  audits(limit: number): readonly AuditEntry[] {
    return this.#asked(({ statements }) => statements.audits.all(limit).map(auditOf));
  }

  backup(file: string): Promise<number> {
    this.#connected();
    return backUp(this.#options.file, file);
  }

  resultFiles(): ReadonlySet<string> {
    return this.#asked(({ statements }) => new Set(statements.files.all().map(({ file }) => file as string)));
  }

  forgottenFiles(): readonly string[] {
    return this.#asked(({ database, statements }) => {
      // What is in a transaction may come back.
      if (database.isTransaction) return [];
      const files = statements.forgottenFiles.all().map(({ file }) => file as string);
      if (files.length > 0) statements.clearForgotten.run();
      return files;
    });
  }

  usage(): StoreUsage {
    return { history: this.#asked(({ bounds }) => bounds.usedBytes), live: 0, marks: 0 };
  }

  rest(): void {
    const database = this.#connection?.database;
    if (!this.#written || database === undefined || database.isTransaction) return;
    try {
      database.exec(`PRAGMA incremental_vacuum(${REST_PAGES}); PRAGMA wal_checkpoint(TRUNCATE)`);
      this.#written = false;
    } catch (error) {
      if (troubleOf(error) === null) throw error;
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#connection === null) return;
    try {
      this.commit();
      if (this.#sound) this.#connection.statements.setClean.run();
      this.#connection.database.close();
    } catch {
      // The next start finds that it was not closed.
    }
    this.#connection = null;
  }

  /** Anew after an error: a commit that failed may be in the file all the same. */
  #connected(): Connection {
    if (this.#connection !== null) return this.#connection;
    if (this.#closed) throw new ColibriError('store-failed', 'expected an open journal, got a closed one');
    try {
      const { taken } = openJournal(this.#options, false, (database) => {
        const connection = this.#connect(database);
        return { connection, row: connection.statements.boot.get() };
      });
      const { connection, row } = taken;
      if (row?.boot === this.#boot) this.#kept = Math.max(this.#kept, Number(row.kept));
      this.#staged = this.#kept;
      this.#connection = connection;
      return connection;
    } catch (error) {
      const cause = error instanceof Error ? error.cause : null;
      throw (
        troubleOf(cause) ?? new StoreTrouble(toErrorData(error, 'store-failed').message, { cause: error })
      );
    }
  }

  #connect(database: Database): Connection {
    const statements = prepareStatements(database);
    statements.dropLostHolds.run();
    statements.releaseLost.run();
    const { retention, nowMs } = this.#options;
    const bounds = new JournalBounds(statements, retention, nowMs);
    return {
      database,
      statements,
      bounds,
      marks: new TaskMarks(statements),
      ends: new LastEnds(statements),
    };
  }

  /** With a transaction that is open. */
  #begun(): Connection {
    const connection = this.#connected();
    if (!connection.database.isTransaction) connection.statements.begin.run();
    return connection;
  }

  #asked<T>(question: (connection: Connection) => T): T {
    const owing = this.#lost !== null || this.#connection?.database.isTransaction === true;
    try {
      return this.#guarded(() => question(this.#connected()));
    } catch (error) {
      if (owing && error instanceof StoreTrouble) this.#lost = error;
      throw error;
    }
  }

  #tellLost(): void {
    const lost = this.#lost;
    this.#lost = null;
    if (lost !== null) throw lost;
  }

  #guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      const trouble = error instanceof StoreTrouble ? error : troubleOf(error);
      this.#rollBack();
      if (trouble !== null && isDamage(trouble.cause)) this.#sound = false;
      throw trouble ?? error;
    }
  }

  /** Counters and the connection itself are not trusted after an error: both are made anew when they are needed. */
  #rollBack(): void {
    this.#staged = this.#kept;
    const connection = this.#connection;
    this.#connection = null;
    if (connection === null) return;
    try {
      if (connection.database.isTransaction) connection.database.exec('ROLLBACK');
    } catch {
      // Its end rolls it back too.
    }
    try {
      connection.database.close();
    } catch {
      // The first error is the one that counts.
    }
  }
}
