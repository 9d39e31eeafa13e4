/** Every statement on the journal while it is open, prepared once. Arguments in the order they are bound. */
import type { Database, Statement } from './database.ts';

export type Statements = Readonly<Record<keyof typeof SQL, Statement>>;

/** Files whose result is forgotten, as long as they are there: part of the transaction in which it is. */
const FORGOTTEN_FILES = `
  PRAGMA temp_store = MEMORY;
  CREATE TEMP TABLE forgotten_files (file TEXT NOT NULL);
  CREATE TEMP TRIGGER result_forgotten AFTER UPDATE OF file ON main.runs WHEN old.file IS NOT NULL AND new.file IS NULL
    BEGIN INSERT INTO forgotten_files VALUES (old.file); END;
  CREATE TEMP TRIGGER run_forgotten AFTER DELETE ON main.runs WHEN old.file IS NOT NULL
    BEGIN INSERT INTO forgotten_files VALUES (old.file); END;
`;

export function prepareStatements(database: Database): Statements {
  database.exec(FORGOTTEN_FILES);
  const prepared = Object.entries(SQL).map(([name, sql]) => [name, database.prepare(sql)]);
  return Object.fromEntries(prepared) as Statements;
}

const VIEW = `run, task, state, attempt, interruptions, origin, created_ms, due_ms, started_ms, ended_ms, duration_ms,
  mark, input, result, error, attempts, flow, note`;

const SHOWN = `${VIEW}, forgotten`;

export const SQL = {
  begin: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',

  /** → boot, kept, clean */
  boot: 'SELECT boot, kept, clean FROM boot',
  /** boot, kept */
  setBoot: `INSERT INTO boot (id, boot, kept, clean) VALUES (1, ?, ?, 0)
    ON CONFLICT (id) DO UPDATE SET boot = excluded.boot, kept = excluded.kept, clean = 0`,
  setClean: 'UPDATE boot SET clean = 1',

  /** The columns of `VIEW`, then dead, held. */
  insertRun: `INSERT INTO runs (${VIEW}, dead, held)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  /** file, file_bytes, run */
  setFile: 'UPDATE runs SET file = ?, file_bytes = ? WHERE run = ?',
  /** attempt, started_ms if it was not running, note, run */
  runBegan: `UPDATE runs SET state = 'running', attempt = ?,
    started_ms = CASE state WHEN 'running' THEN started_ms ELSE ? END, note = coalesce(?, note)
    WHERE run = ? AND ended_ms IS NULL`,
  /** state, attempt, ended_ms, started_ms if there is none, duration_ms, result, error, dead, note, run */
  runEnded: `UPDATE runs SET state = ?, attempt = ?, ended_ms = ?, started_ms = coalesce(started_ms, ?),
    duration_ms = coalesce(?, duration_ms), result = ?, error = ?, dead = ?, note = coalesce(?, note)
    WHERE run = ? AND ended_ms IS NULL`,
  /** state, attempt, due_ms, duration_ms, error, interruptions to be added, run */
  runMoved: `UPDATE runs SET state = ?, attempt = ?, due_ms = coalesce(?, due_ms),
    duration_ms = coalesce(?, duration_ms), error = coalesce(?, error), interruptions = interruptions + ?
    WHERE run = ? AND ended_ms IS NULL`,
  /** run → attempts, started_ms */
  attempts: 'SELECT attempts, started_ms FROM runs WHERE run = ?',
  /** attempts, run */
  setAttempts: 'UPDATE runs SET attempts = ? WHERE run = ?',
  /** run */
  deleteRun: 'DELETE FROM runs WHERE run = ?',
  /** run */
  letterDropped: 'UPDATE runs SET dead = 0 WHERE run = ? AND dead = 1',

  /** run */
  isLive: 'SELECT 1 AS found FROM runs WHERE run = ? AND ended_ms IS NULL',
  /** run */
  held: 'SELECT held FROM runs WHERE run = ?',
  anyHeld: 'SELECT 1 AS found FROM runs WHERE held = 1 LIMIT 1',
  /** The moment from which it ages if it is no item, flow → what is counted of each */
  releaseSteps: `UPDATE runs SET held = 0, released_ms = CASE item WHEN 0 THEN ? END
    WHERE flow = ? AND held = 1 AND NOT EXISTS (SELECT 1 FROM holds WHERE holds.run = runs.run)
    RETURNING ended_ms IS NOT NULL AS over, result IS NOT NULL AS kept`,
  /** flow → run */
  dropHolds: 'DELETE FROM holds WHERE flow = ? RETURNING run',
  /** The moment from which it ages, run → what is counted of it, if nobody else holds it */
  releaseStep: `UPDATE runs SET held = 0, released_ms = ?
    WHERE run = ? AND held = 1 AND NOT EXISTS (SELECT 1 FROM holds WHERE holds.run = runs.run)
    AND NOT EXISTS (SELECT 1 FROM runs AS own WHERE own.run = runs.flow AND own.ended_ms IS NULL)
    RETURNING ended_ms IS NOT NULL AS over, result IS NOT NULL AS kept`,
  /** By flows that are not there, or over. */
  dropLostHolds: 'DELETE FROM holds WHERE flow NOT IN (SELECT run FROM runs WHERE ended_ms IS NULL)',
  /** Of flows that are not there, or over. */
  releaseLost: `UPDATE runs SET held = 0 WHERE held = 1 AND run NOT IN (SELECT run FROM holds)
    AND flow NOT IN (SELECT run FROM runs WHERE ended_ms IS NULL)`,
  /** flow, run */
  addHold: `INSERT OR IGNORE INTO holds (flow, run)
    SELECT ?, run FROM runs WHERE run = ? AND flow IS NOT NULL AND dead = 0 AND ended_ms IS NOT NULL`,
  /** run → what is counted of it, if nobody holds it yet */
  holdStep: `UPDATE runs SET held = 1 WHERE run = ? AND held = 0
    AND EXISTS (SELECT 1 FROM holds WHERE holds.run = runs.run) RETURNING result IS NOT NULL AS kept`,
  /** flow, position after which they come, limit. The start is that of the first attempt that is kept. */
  flowSteps: `SELECT rowid AS position, run, flow, state, ended_ms, error,
    CASE WHEN json_valid(attempts) THEN cast(coalesce(json_extract(attempts, '$[0].startedAtMs'), started_ms) AS INTEGER)
      ELSE started_ms END AS started_ms FROM runs
    WHERE flow = ? AND held = 1 AND rowid > ? ORDER BY rowid LIMIT ?`,
  /** run */
  result: 'SELECT result FROM runs WHERE run = ?',
  /** run */
  hasResult: 'SELECT 1 AS found FROM runs WHERE run = ? AND result IS NOT NULL',

  /** run */
  show: `SELECT ${SHOWN} FROM runs WHERE run = ?`,
  /** task or null, state or null, limit */
  list: `SELECT ${SHOWN} FROM runs WHERE (?1 IS NULL OR task = ?1) AND (?2 IS NULL OR state = ?2)
    ORDER BY rowid DESC LIMIT ?3`,
  /** after, the moment after which a pending run is delayed, limit */
  unfinished: `SELECT rowid AS position, ${VIEW} FROM runs WHERE ended_ms IS NULL AND rowid > ?1
    AND NOT (state = 'pending' AND coalesce(due_ms, 0) > ?2) ORDER BY rowid LIMIT ?3`,
  countLive: 'SELECT count(*) AS n FROM runs WHERE ended_ms IS NULL',
  /** the moment */
  countDelayed: `SELECT count(*) AS n FROM runs WHERE state = 'pending' AND due_ms > ?`,
  /** due_ms and position after which they come, limit */
  delayed: `SELECT rowid AS position, ${VIEW} FROM runs WHERE state = 'pending' AND due_ms IS NOT NULL
    AND (due_ms, rowid) > (?, ?) ORDER BY due_ms, rowid LIMIT ?`,
  /** run */
  delayedRun: `SELECT ${VIEW} FROM runs WHERE run = ? AND state = 'pending' AND due_ms IS NOT NULL`,
  /** How many are passed by, limit */
  letters: `SELECT ${VIEW} FROM runs WHERE dead = 1 ORDER BY ended_ms, rowid LIMIT ?2 OFFSET ?1`,
  countLetters: 'SELECT count(*) AS n FROM runs WHERE dead = 1',

  countOver: 'SELECT count(*) AS n FROM runs WHERE ended_ms IS NOT NULL AND dead = 0 AND held = 0',
  countResults: 'SELECT count(*) AS n FROM runs WHERE result IS NOT NULL AND held = 0',
  /** How many */
  forgetOldest: `DELETE FROM runs WHERE rowid IN
    (SELECT rowid FROM runs WHERE ended_ms IS NOT NULL AND dead = 0 AND held = 0 ORDER BY aged_ms, rowid LIMIT ?)`,
  /** Bytes: of all but the newest that fit. */
  forgetBeyondBytes: `DELETE FROM runs WHERE rowid IN (SELECT id FROM (
      SELECT rowid AS id, sum(200 + length(run) + coalesce(length(input), 0) + coalesce(length(result), 0)
        + coalesce(length(error), 0) + coalesce(length(attempts), 0) + coalesce(length(note), 0))
        OVER (ORDER BY aged_ms DESC, rowid DESC) AS total
      FROM runs WHERE ended_ms IS NOT NULL AND dead = 0 AND held = 0) WHERE total > ?)`,
  /** How many. Those of items, which can be made anew one by one, before all others. */
  forgetResults: `UPDATE runs SET result = NULL, forgotten = 1, file = NULL, file_bytes = NULL WHERE rowid IN
    (SELECT rowid FROM runs WHERE result IS NOT NULL AND held = 0
      ORDER BY item DESC, aged_ms, rowid LIMIT ?)`,
  /** aged_ms before which a result is too old. Both kinds are named for the index. */
  forgetOldResults: `UPDATE runs SET result = NULL, forgotten = 1, file = NULL, file_bytes = NULL
    WHERE result IS NOT NULL AND held = 0 AND item IN (0, 1) AND aged_ms < ?`,
  /** Bytes: of all files but those of the newest results that fit. */
  forgetBeyondFileBytes: `UPDATE runs SET result = NULL, forgotten = 1, file = NULL, file_bytes = NULL WHERE rowid IN (SELECT id FROM (
      SELECT rowid AS id, sum(file_bytes) OVER (ORDER BY item, aged_ms DESC, rowid DESC) AS total
      FROM runs WHERE file IS NOT NULL AND held = 0) WHERE total > ?)`,
  files: 'SELECT file FROM runs WHERE file IS NOT NULL',
  forgottenFiles: 'SELECT file FROM forgotten_files',
  clearForgotten: 'DELETE FROM forgotten_files',

  tasks: 'SELECT id, task FROM tasks',
  /** task → id */
  addTask: 'INSERT INTO tasks (task) VALUES (?) RETURNING id',
  /** tasks.id, mark */
  addMark: 'INSERT OR IGNORE INTO marks (task, mark) VALUES (?, ?)',
  /** tasks.id, mark */
  hasMark: 'SELECT 1 AS found FROM marks WHERE task = ? AND mark = ?',

  lastEnds: 'SELECT task, state, ended_ms, success_ms FROM last_ends',
  /** task, state, ended_ms, success_ms or null: it did not succeed this time */
  setLastEnd: `INSERT INTO last_ends (task, state, ended_ms, success_ms) VALUES (?, ?, ?, ?)
    ON CONFLICT (task) DO UPDATE SET state = excluded.state, ended_ms = excluded.ended_ms,
    success_ms = coalesce(excluded.success_ms, success_ms)`,

  schedules: 'SELECT task, schedule, handled_ms FROM schedules',
  /** task, schedule, handled_ms */
  setSchedule: `INSERT INTO schedules (task, schedule, handled_ms) VALUES (?, ?, ?)
    ON CONFLICT (task) DO UPDATE SET schedule = excluded.schedule, handled_ms = excluded.handled_ms`,
  /** task */
  deleteSchedule: 'DELETE FROM schedules WHERE task = ?',
  /** handled_ms, the time it is now, task. A mark from the future was made by a clock that was wrong. */
  occurrenceHandled: `UPDATE schedules SET handled_ms = CASE WHEN handled_ms > ?2 THEN ?1 ELSE max(handled_ms, ?1) END
    WHERE task = ?3`,

  /** at_ms, actor, action, target, fields */
  addAudit: 'INSERT INTO audit (at_ms, actor, action, target, fields) VALUES (?, ?, ?, ?, ?)',
  /** How many are kept */
  trimAudit: 'DELETE FROM audit WHERE id <= (SELECT max(id) FROM audit) - ?',
  /** limit */
  audits: 'SELECT at_ms, actor, action, target, fields FROM audit ORDER BY id DESC LIMIT ?',

  pages: 'PRAGMA page_count',
  freePages: 'PRAGMA freelist_count',
  pageSize: 'PRAGMA page_size',
} as const;
