import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cronFields } from '../support/cron-fields.ts';
import { load, problemsOf, warningsOf } from './config-fixtures.ts';

const TASKS = `
groups: { api: { concurrency: 1 } }
tasks:
  - { name: hash-inbox, handler: hash, with: { path: x }, every: 5s }
  - { name: nap, handler: sleep, with: { ms: 5 } }
  - { name: free, handler: noop, with: { word: x } }
`;
const overridden = async (env: Record<string, string>, text = TASKS) => (await load(text, { env })).config;

test('any scalar of the sections', async () => {
  const config = await overridden({
    COLIBRI_QUEUES_READY_CAPACITY: '5000',
    COLIBRI_LOG_LEVEL: 'debug',
    COLIBRI_DEFAULTS_TIMEOUT_SECONDS: '2.5',
    COLIBRI_METRICS_LISTEN: 'null',
    COLIBRI_VERSION: '1.10',
    COLIBRI_POOLS_CPU_THREADS: 'auto',
    COLIBRI_GROUPS_API_CONCURRENCY: '7',
    COLIBRI_WORKERS: '9',
    COLIBRI_STATE_DIR: '/var/lib/colibri',
  });
  assert.equal(config.queues.ready.capacity, 5000);
  assert.equal(config.log.level, 'debug');
  assert.equal(config.tasks[1]?.timeoutMs, 2500);
  assert.equal(config.metrics, null);
  assert.equal(config.version, '1.10', 'text stays as it is written where the key takes text');
  assert.equal(config.groups.api?.concurrency, 7);
  assert.equal(config.pools.io.slots, 9);
  assert.equal(config.stateDir, '/var/lib/colibri');
});

test('tasks by name, where - counts as _', async () => {
  const config = await overridden({
    COLIBRI_TASKS_HASH_INBOX_TIMEOUT_SECONDS: '1',
    COLIBRI_TASKS_HASH_INBOX_WITH_ALGORITHM: 'sha1',
    COLIBRI_TASKS_HASH_INBOX_SCHEDULE: '*/5 * * * *',
    COLIBRI_TASKS_NAP_BACKOFF_BASE_SECONDS: '4',
    COLIBRI_TASKS_FREE_WITH_WORD: '12',
  });
  assert.equal(config.tasks[0]?.timeoutMs, 1000);
  assert.equal(config.tasks[0]?.with.algorithm, 'sha1');
  assert.deepEqual(config.tasks[0]?.schedule, {
    kind: 'cron',
    expression: '*/5 * * * *',
    timeZone: null,
    dst: { gap: 'shift', repeat: 'first' },
    fields: cronFields('*/5 * * * *'),
  });
  assert.equal(config.tasks[1]?.backoff.baseMs, 4000);
  assert.equal(config.tasks[2]?.with.word, 12);
});

test('an override wins over the other ways of the file to say the same', async () => {
  const config = await overridden(
    { COLIBRI_QUEUES_READY_CAPACITY: '5', COLIBRI_POOLS_IO_WAIT_MS: '20', COLIBRI_LOG_LEVEL: 'warn' },
    'queues: { ready: { backlog_per_second: 9, tolerate_seconds: 9 } }\nworkers: 3\nlog_level: debug\n',
  );
  assert.equal(config.queues.ready.capacity, 5);
  assert.equal(config.pools.io.sizing, 'ratio');
  assert.equal(config.pools.io.slots, 8);
  assert.equal(config.log.level, 'warn');
  const measured = await overridden({ COLIBRI_POOLS_IO_WAIT_MS: '20' }, 'workers: measured\n');
  assert.equal(measured.pools.io.sizing, 'measured');
});

test('problems of overrides name the variable as their place', async () => {
  const env = {
    COLIBRI_QUEUES_READY_CAPACITY: 'ten',
    COLIBRI_TASKS_NAP_WITH_MS: '-1',
    COLIBRI_MEMORY_BUDGET_MB: '[1]',
    COLIBRI_STORE_KIND: 'disk',
  };
  assert.deepEqual(await problemsOf(TASKS, { env }), [
    'COLIBRI_MEMORY_BUDGET_MB:1:1: memory.budget_mb: expected an integer from 16 to 1048576, got "[1]"',
    'COLIBRI_QUEUES_READY_CAPACITY:1:1: queues.ready.capacity: expected an integer from 1 to 10000000, got "ten"',
    'COLIBRI_STORE_KIND:1:1: store.kind: expected one of "memory", "sqlite", got "disk"',
    'COLIBRI_TASKS_NAP_WITH_MS:1:1: tasks[1] (nap).with.ms: expected a number ≥ 0, got -1',
  ]);
});

test('two variables for one key, and one variable for two keys, are problems', async () => {
  assert.deepEqual(
    await problemsOf('', { env: { COLIBRI_QUEUE_SIZE: '1', COLIBRI_QUEUES_READY_CAPACITY: '1' } }),
    [
      'COLIBRI_QUEUE_SIZE:1:1: expected either COLIBRI_QUEUES_READY_CAPACITY or COLIBRI_QUEUE_SIZE, got both; unset one',
    ],
  );
  const text = 'tasks: [{ name: a-b, handler: noop }, { name: a_b, handler: noop }]\n';
  assert.deepEqual(await problemsOf(text, { env: { COLIBRI_TASKS_A_B_MAX_RETRY: '1' } }), [
    'COLIBRI_TASKS_A_B_MAX_RETRY:1:1: expected a variable that names one key, got one that names both max_retry of task a-b and max_retry of task a_b; rename one of the two',
  ]);
  const env = { COLIBRI_QUEUES_READY_CAPACITY: '5', COLIBRI_QUEUES_READY_TOLERATE_SECONDS: '5' };
  assert.equal((await problemsOf('', { env })).length, 1);
  assert.deepEqual(await problemsOf('log: 5\n', { env: { COLIBRI_LOG_KEEP_DAYS: '1' } }), [
    'c.yaml:1:6: log: expected an object, got 5',
    'COLIBRI_LOG_KEEP_DAYS:1:1: expected log to be an object in the file, got something else',
  ]);
});

test('an unknown variable is a warning with a suggestion; the ones of others are none', async () => {
  const env = {
    COLIBRI_QUEUE_READY_CAPACITY: '5',
    COLIBRI_TASKS_NAP_TIMOUT_SECONDS: '5',
    // The one that it is near to is set, too.
    COLIBRI_LOG_LEVL: 'info',
    COLIBRI_LOG_LEVEL: 'info',
    COLIBRI_NONSENSE: '1',
    COLIBRI_RUN: 'x',
    COLIBRI_TASK: 'x',
    COLIBRI_ATTEMPT: '1',
    COLIBRI_CONFIG: 'x',
    PATH: '/bin',
    COLIBRIX: '1',
  };
  const ignored = 'expected the name of a key of the config, got one that no key has; it is ignored';
  assert.deepEqual(await warningsOf(TASKS, { env }), [
    `COLIBRI_LOG_LEVL:1:1: ${ignored}; unset it`,
    `COLIBRI_NONSENSE:1:1: ${ignored}; unset it`,
    `COLIBRI_QUEUE_READY_CAPACITY:1:1: ${ignored}; did you mean COLIBRI_QUEUES_READY_CAPACITY?`,
    `COLIBRI_TASKS_NAP_TIMOUT_SECONDS:1:1: ${ignored}; did you mean COLIBRI_TASKS_NAP_TIMEOUT_SECONDS?`,
  ]);
});
