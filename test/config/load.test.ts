import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigInvalid, configSchema, findConfigFile, loadConfig } from '../../src/main/config/index.ts';
import { cronFields } from '../support/cron-fields.ts';
import { tempDir } from '../support/temp-dir.ts';
import { load, problemsOf, textOptions, warningsOf } from './config-fixtures.ts';
import { CONTRACT } from './contract-example.ts';

test('the whole contract loads into milliseconds, bytes and absolute paths', async () => {
  const listModules = () => ({ files: ['/etc/app/handlers/report.ts'], complete: true });
  const { config } = await load(CONTRACT, { listModules });
  assert.deepEqual(config, {
    file: '/etc/app/c.yaml',
    directory: '/etc/app',
    version: '2026-11-01',
    stateDir: '/etc/app/state',
    memory: { budgetBytes: 40 * 2 ** 20 },
    shutdown: { graceMs: 15_000 },
    store: { kind: 'sqlite', durability: 'process' },
    retention: {
      runs: 10_000,
      results: 200,
      resultTtlMs: 86_400_000,
      resultFilesBytes: 256 * 1024 * 1024,
      maxBytes: 64 * 1024 ** 2,
    },
    pools: {
      cpu: { threads: 4, idleMs: 10_000 },
      io: { sizing: 'ratio', slots: 20, waitMs: 80, computeMs: 20 },
    },
    queues: {
      ready: {
        capacity: 15_000,
        rates: { backlogPerSecond: 500, tolerateSeconds: 30 },
        whenFull: 'block',
        watermarks: { high: 0.9, low: 0.75 },
        ageingMs: 60_000,
      },
      delayed: { capacity: 20_000 },
      retry: { capacity: 2000 },
      deadLetter: { capacity: 2000, whenFull: 'drop-oldest' },
    },
    concurrency: null,
    groups: { api: { concurrency: 10 }, database: { concurrency: 20 } },
    metrics: { host: '127.0.0.1', port: 9464 },
    log: { level: 'info', file: null, maxBytes: 50 * 1024 ** 2, keepDays: 14 },
    modules: [{ name: 'report', file: '/etc/app/handlers/report.ts' }],
    tasks: [
      {
        name: 'hash-inbox',
        kind: 'cpu',
        handler: 'hash',
        pool: 'cpu',
        with: { algorithm: 'sha256', manifest: '/etc/app/out/SHA256SUMS' },
        each: { root: '/etc/app/inbox', pattern: '**/*' },
        schedule: {
          kind: 'cron',
          expression: '*/5 * * * * *',
          timeZone: 'Europe/Berlin',
          dst: { gap: 'shift', repeat: 'first' },
          fields: cronFields('*/5 * * * * *'),
        },
        misfire: { policy: 'run-once', graceMs: null, max: 100 },
        overlap: 'skip',
        splayMs: 0,
        runOnStart: false,
        timeoutMs: 10_000,
        maxRetry: 5,
        backoff: { kind: 'additive', baseMs: 1000, capMs: 60_000, jitterMs: 1000 },
        onInterrupted: 'rerun',
        group: 'api',
        priority: 0,
        bounds: null,
      },
    ],
    flows: [],
  });
});

test('an empty file is the same config as the one with every default written out', async () => {
  const listModules = () => ({ files: [], complete: true });
  const written = CONTRACT.slice(0, CONTRACT.indexOf('tasks:')).replace(
    'version: "2026-11-01"',
    'version: null',
  );
  const { config } = await load(written.replace(/^(groups|handlers):.*$/gm, ''), { listModules });
  for (const empty of ['', '# nothing\n', 'tasks:\nlog:\ngroups:\npools:\n  cpu:\n', '---\n{}\n']) {
    assert.deepEqual((await load(empty)).config, config, JSON.stringify(empty));
  }
});

test('tasks inherit from defaults, key by key, and share what they inherit', async () => {
  const { config } = await load(`
defaults:
  timeout_seconds: 0.5
  max_retry: 1
  overlap: allow
  misfire: { grace_seconds: 60 }
  backoff: { kind: additive, base_seconds: 2, jitter_seconds: 0.25 }
tasks:
  - { name: a, handler: noop }
  - { name: b, handler: noop, max_retry: 0, backoff: { base_seconds: 3 }, misfire: { policy: skip } }
  - { name: c, handler: noop, backoff: { kind: scaled }, misfire: { grace_seconds: null } }
`);
  const [a, b, c] = config.tasks;
  assert.deepEqual([a?.timeoutMs, a?.maxRetry, a?.overlap], [500, 1, 'allow']);
  assert.deepEqual(a?.backoff, { kind: 'additive', baseMs: 2000, capMs: 60_000, jitterMs: 250 });
  assert.deepEqual(a?.misfire, { policy: 'run-once', graceMs: 60_000, max: 100 });
  assert.deepEqual([b?.timeoutMs, b?.maxRetry], [500, 0]);
  assert.deepEqual(b?.backoff, { kind: 'additive', baseMs: 3000, capMs: 60_000, jitterMs: 250 });
  assert.deepEqual(b?.misfire, { policy: 'skip', graceMs: 60_000, max: 100 });
  assert.deepEqual(c?.backoff, { kind: 'scaled', baseMs: 2000, capMs: 60_000 });
  assert.equal(c?.misfire.graceMs, null);
  assert.equal(
    (await load('tasks: [{ name: a, handler: noop }, { name: b, handler: noop }]')).config.tasks.every(
      (one, _, all) => one.backoff === all[0]?.backoff,
    ),
    true,
  );
});

test('a backoff of kind additive has a jitter of one second when none is said', async () => {
  const { config } = await load('tasks: [{ name: a, handler: noop, backoff: { kind: additive } }]');
  assert.deepEqual(config.tasks[0]?.backoff, {
    kind: 'additive',
    baseMs: 1000,
    capMs: 60_000,
    jitterMs: 1000,
  });
});

test('schedules: every, at, cron words', async () => {
  const schedule = async (text: string) =>
    (await load(`tasks: [{ name: a, handler: noop, ${text} }]`)).config.tasks[0]?.schedule;
  assert.deepEqual(await schedule('every: 1m30s'), { kind: 'every', everyMs: 90_000 });
  assert.deepEqual(await schedule('every: 0.5'), { kind: 'every', everyMs: 500 });
  // Thousandths that binary fractions do not hold.
  for (const [text, everyMs] of [
    ['1.1', 1100],
    ['4.35', 4350],
    ['0.333', 333],
    ['1.001s', 1001],
    ['0.001h', 3600],
  ]) {
    assert.deepEqual(await schedule(`every: ${text}`), { kind: 'every', everyMs }, `${text}`);
  }
  assert.deepEqual(await schedule('every: 10ms'), { kind: 'every', everyMs: 10 });
  assert.deepEqual(await schedule('at: 2026-12-24T18:00:00Z'), {
    kind: 'at',
    atMs: Date.UTC(2026, 11, 24, 18),
  });
  assert.deepEqual(await schedule('schedule: "@hourly"'), {
    kind: 'cron',
    expression: '@hourly',
    timeZone: null,
    dst: { gap: 'shift', repeat: 'first' },
    fields: cronFields('0 * * * *'),
  });
  assert.equal(await schedule('priority: 1'), null);
});

test('dst: a task says it, or inherits each key by itself', async () => {
  const { config } = await load(`
defaults: { dst: { gap: skip } }
tasks:
  - { name: a, handler: noop, schedule: '30 2 * * *' }
  - { name: b, handler: noop, schedule: '30 2 * * *', dst: { repeat: both } }
  - { name: c, handler: noop, schedule: '30 2 * * *', dst: { gap: shift } }
`);
  assert.deepEqual(
    config.tasks.map(({ schedule }) => (schedule?.kind === 'cron' ? schedule.dst : null)),
    [
      { gap: 'skip', repeat: 'first' },
      { gap: 'skip', repeat: 'both' },
      { gap: 'shift', repeat: 'first' },
    ],
  );
});

test('short forms and the sizes of queues and pools', async () => {
  const { config } = await load('queue_size: 7\nworkers: 3\nlog_level: debug\n');
  assert.equal(config.queues.ready.capacity, 7);
  assert.deepEqual(config.pools.io, { sizing: 'fixed', slots: 3, waitMs: 80, computeMs: 20 });
  assert.equal(config.log.level, 'debug');
  const io = async (text: string) => (await load(`pools: { io: { ${text} } }`)).config.pools.io;
  assert.deepEqual(await io('slots: measured, wait_ms: 30'), {
    sizing: 'measured',
    slots: 10,
    waitMs: 30,
    computeMs: 20,
  });
  assert.equal((await io('wait_ms: 0')).slots, 4);
  assert.equal((await io('wait_ms: 1, compute_ms: 3')).slots, 6, '4 × (1 + 1/3), rounded up');
  assert.equal((await io('wait_ms: 3600000, compute_ms: 1')).slots, 1000);
  assert.equal(
    (await load('queues: { ready: { backlog_per_second: 0.1, tolerate_seconds: 15 } }')).config.queues.ready
      .capacity,
    2,
  );
  assert.equal((await load('metrics: null')).config.metrics, null);
  assert.equal((await load('metrics: { listen: null }')).config.metrics, null);
  assert.deepEqual((await load('metrics: { listen: "[::1]:0" }')).config.metrics, { host: '::1', port: 0 });
});

test('anchors and aliases stand for what they name', async () => {
  const { config } = await load(
    'tasks:\n  - { name: a, handler: noop, backoff: &slow { base_seconds: 9 } }\n  - { name: b, handler: noop, backoff: *slow }\n',
  );
  assert.equal(config.tasks[1]?.backoff.baseMs, 9000);
  assert.deepEqual(
    await problemsOf(
      'defaults: { backoff: &b { base: 9 } }\ntasks: [{ name: b, handler: noop, backoff: *b }]\n',
    ),
    [
      'c.yaml:1:27: defaults.backoff.base: unknown key "base"; did you mean "base_seconds"?',
      'c.yaml:1:27: tasks[0] (b).backoff.base: unknown key "base"; did you mean "base_seconds"?',
    ],
  );
});

test('user modules: found by name, io on the guest thread unless they say cpu', async (t) => {
  const directory = tempDir(t);
  mkdirSync(join(directory, 'handlers', 'deep', 'node_modules'), { recursive: true });
  for (const name of ['report.ts', 'types.d.ts', 'notes.md', 'deep/crunch.mjs', 'deep/node_modules/dep.js']) {
    writeFileSync(join(directory, 'handlers', name), 'throw new Error("modules are not imported at load")');
  }
  const file = join(directory, 'colibri.yaml');
  writeFileSync(
    file,
    'handlers: ["./handlers/**/*"]\ntasks:\n  - { name: a, handler: report, with: { any: [1] } }\n  - { name: b, handler: crunch, kind: cpu }\n  - { name: c, handler: dep }\n',
  );
  await assert.rejects(loadConfig({ ...textOptions, file }), (error) => {
    assert.ok(error instanceof ConfigInvalid);
    assert.deepEqual(
      error.problems.map(({ line, column }) => [line, column]),
      [[5, 25]],
    );
    return true;
  });
  writeFileSync(join(directory, 'handlers', 'dep.cts'), '');
  const { config } = await loadConfig({ ...textOptions, file });
  assert.deepEqual(
    config.tasks.map(({ kind, pool }) => [kind, pool]),
    [
      ['io', 'guest'],
      ['cpu', 'cpu'],
      ['io', 'guest'],
    ],
  );
  assert.equal(config.directory, directory);
});

test('user modules: names that clash, globs that find nothing or too much', async () => {
  const modules = (...files: string[]) => ({ listModules: () => ({ files, complete: true }) });
  assert.deepEqual(await problemsOf('handlers: ["h/*"]\n', modules('/h/a.ts', '/h/x/a.js')), [
    'c.yaml:1:12: handlers[0]: expected each module to have a name of its own, got /h/a.ts and /h/x/a.js; rename one',
  ]);
  assert.deepEqual(await problemsOf('handlers: ["h/*"]\n', modules('/h/hash.ts')), [
    'c.yaml:1:12: handlers[0]: expected a module whose name no built-in handler has, got /h/hash.ts; rename it',
  ]);
  assert.deepEqual(await problemsOf('handlers: ["h/*", "h/a*"]\n', modules('/h/a.ts')), []);
  assert.deepEqual(await warningsOf('handlers: ["h/*"]\n', modules()), [
    'c.yaml:1:12: handlers[0]: expected a module file, got none that matches "h/*"',
  ]);
  const tooMany = { listModules: () => ({ files: ['/h/a.ts'], complete: false }) };
  assert.match((await problemsOf('handlers: ["/**"]\n', tooMany))[0] ?? '', /too many files/);
});

test('where the config is looked for', (t) => {
  const directory = tempDir(t);
  assert.notEqual(findConfigFile(directory), join(directory, 'colibri.yaml'));
  writeFileSync(join(directory, 'colibri.yaml'), '');
  assert.equal(findConfigFile(directory), join(directory, 'colibri.yaml'));
});

test('every key of the schema has a description', () => {
  const look = (schema: typeof configSchema, path: string): string[] =>
    Object.entries(schema.properties ?? {}).flatMap(([key, inner]) => [
      ...(inner.description === undefined ? [`${path}.${key}`] : []),
      ...look(inner, `${path}.${key}`),
      ...(inner.items === undefined ? [] : look(inner.items, `${path}.${key}[]`)),
    ]);
  assert.deepEqual(look(configSchema, ''), []);
});
