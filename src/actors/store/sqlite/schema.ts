/**
 * The schema of the journal, as numbered migrations: the nth takes a file from version n − 1 to n
 * (`PRAGMA user_version`). One that was released is never changed.
 *
 * Times are wall times in ms. `rowid` of `runs` is the order of creation.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE boot (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    boot TEXT NOT NULL,
    kept INTEGER NOT NULL,       -- ordinal of the last transition of this boot that is here
    clean INTEGER NOT NULL       -- 1: the daemon closed the journal
  ) STRICT;

  CREATE TABLE runs (
    run TEXT NOT NULL UNIQUE,    -- task and occurrence: at most one of an id, so at most one that is live
    task TEXT NOT NULL,
    state TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    interruptions INTEGER NOT NULL,
    origin TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    due_ms INTEGER,              -- null: at its creation
    started_ms INTEGER,
    ended_ms INTEGER,            -- null: it is not over
    duration_ms REAL,
    mark TEXT,
    input TEXT,                  -- null: {}
    result TEXT,
    error TEXT,                  -- JSON of ErrorData, without stacks
    attempts TEXT,               -- JSON list of AttemptView, the oldest first
    dead INTEGER NOT NULL        -- 1: a dead letter
  ) STRICT;
  CREATE INDEX runs_over ON runs (ended_ms) WHERE ended_ms IS NOT NULL AND dead = 0;
  CREATE INDEX runs_dead ON runs (ended_ms) WHERE dead = 1;
  CREATE INDEX runs_results ON runs (ended_ms) WHERE result IS NOT NULL;

  CREATE TABLE tasks (
    id INTEGER PRIMARY KEY,
    task TEXT NOT NULL UNIQUE
  ) STRICT;

  CREATE TABLE marks (           -- files that were dealt with
    task INTEGER NOT NULL,       -- tasks.id
    mark BLOB NOT NULL,          -- 8 bytes
    PRIMARY KEY (task, mark)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE schedules (
    task TEXT PRIMARY KEY,
    schedule TEXT NOT NULL,
    handled_ms INTEGER NOT NULL  -- occurrences up to this instant were dealt with
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE audit (
    id INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT,
    fields TEXT NOT NULL         -- JSON object
  ) STRICT;
  `,
  `
  CREATE INDEX runs_delayed ON runs (due_ms) WHERE state = 'pending' AND due_ms IS NOT NULL;
  `,
  `
  CREATE TABLE last_ends (       -- how each task ended last; its runs are forgotten before
    task TEXT PRIMARY KEY,
    state TEXT NOT NULL,
    ended_ms INTEGER NOT NULL,
    success_ms INTEGER           -- its last success; null: none is known
  ) STRICT, WITHOUT ROWID;
  INSERT INTO last_ends (task, state, ended_ms)
    SELECT task, state, max(ended_ms) FROM runs WHERE ended_ms IS NOT NULL GROUP BY task;
  UPDATE last_ends SET success_ms = found.success_ms FROM
    (SELECT task, max(ended_ms) AS success_ms FROM runs WHERE state = 'success' GROUP BY task) AS found
    WHERE last_ends.task = found.task;
  `,
  `
  ALTER TABLE runs ADD COLUMN flow TEXT;  -- the run of the flow that it is a step of
  ALTER TABLE runs ADD COLUMN note TEXT;  -- of the run of a flow: JSON, what it keeps of itself
  ALTER TABLE runs ADD COLUMN held INTEGER NOT NULL DEFAULT 0;  -- 1: its flow is not over, so it is not forgotten
  DROP INDEX runs_over;
  CREATE INDEX runs_over ON runs (ended_ms) WHERE ended_ms IS NOT NULL AND dead = 0 AND held = 0;
  DROP INDEX runs_results;
  CREATE INDEX runs_results ON runs (ended_ms) WHERE result IS NOT NULL AND held = 0;
  CREATE INDEX runs_held ON runs (flow) WHERE held = 1;
  `,
  `
  ALTER TABLE runs ADD COLUMN file TEXT;         -- name of the file that its result lies in; null: none of its own
  ALTER TABLE runs ADD COLUMN file_bytes INTEGER;
  CREATE INDEX runs_files ON runs (ended_ms) WHERE file IS NOT NULL;
  `,
  `
  CREATE TABLE holds (           -- runs of steps that another run of their flow takes over: not forgotten while it lives
    run TEXT NOT NULL,
    flow TEXT NOT NULL,
    PRIMARY KEY (run, flow)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX holds_flow ON holds (flow);
  `,
  `
  ALTER TABLE runs ADD COLUMN released_ms INTEGER;  -- of a step that was held: the end of the flow by which it was
  -- It is forgotten as one that ended then; null: it is not over.
  ALTER TABLE runs ADD COLUMN aged_ms INTEGER
    GENERATED ALWAYS AS (max(ended_ms, coalesce(released_ms, 0))) VIRTUAL;
  -- 1: of an item of a list, as its id says.
  ALTER TABLE runs ADD COLUMN item INTEGER GENERATED ALWAYS AS (substr(run, -1) = ']') VIRTUAL;
  DROP INDEX runs_over;
  CREATE INDEX runs_over ON runs (aged_ms) WHERE ended_ms IS NOT NULL AND dead = 0 AND held = 0;
  DROP INDEX runs_results;
  CREATE INDEX runs_results ON runs (item DESC, aged_ms) WHERE result IS NOT NULL AND held = 0;
  `,
  `
  ALTER TABLE runs ADD COLUMN forgotten INTEGER NOT NULL DEFAULT 0;  -- 1: its result is not kept any more
  `,
];
