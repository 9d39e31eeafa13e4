import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigInvalid, formatProblem, resolveConfig } from '../../src/main/config/index.ts';
import { parseCron } from '../../src/main/schedule/parse/index.ts';
import { builtInHandlers } from '../../src/workers/index.ts';
import { builtIns, load, problemsOf, warningsOf } from './config-fixtures.ts';

/** A task that is right, then what is put into it, from line 4. */
const task = (...lines: string[]) =>
  ['tasks:', '  - name: a', '    handler: noop', ...lines.map((line) => `    ${line}`), ''].join('\n');
const only = async (text: string, expected: string, more = {}) =>
  assert.deepEqual(await problemsOf(text, more), [expected]);
const NAME = 'a name of a-z, 0-9, _ and -, that starts with a letter or digit and has at most 100 characters';

test('YAML itself: syntax, documents, duplicates, tags, aliases', async () => {
  await only(
    'a: [1,\nb: 2',
    'c.yaml:2:1: expected valid YAML: Flow sequence in block collection must be sufficiently indented and end with a ]',
  );
  await only('version: "x\n', 'c.yaml:2:1: expected valid YAML: Missing closing "quote');
  await only(
    'log: {}\n---\nlog: {}\n',
    'c.yaml:2:1: expected one YAML document, got 2; remove what follows the "---"',
  );
  await only(
    'log: {}\nversion: x\nlog: {}\n',
    'c.yaml:3:1: the key "log" is given twice; the first is on line 1',
  );
  await only('version: !secret x\n', 'c.yaml:1:10: expected a value without a tag: Unresolved tag: !secret');
  await only('version: *v\n', 'c.yaml:1:10: expected an anchor &v before this alias, got none');
  await only(
    task('with: &w { w: *w }'),
    'c.yaml:4:19: expected the alias *w to be outside of what it stands for',
  );
  await only('- 1\n', 'c.yaml:1:1: expected the keys of a config, got a list');
  await only('hello\n', 'c.yaml:1:1: expected the keys of a config, got "hello"');
});

test('keys: unknown ones at the key with a suggestion, missing ones at their parent, bad values at the value', async () => {
  await only('querys: {}\n', 'c.yaml:1:1: querys: unknown key "querys"; did you mean "queues"?');
  await only(
    'queues: { ready: { capacty: 4 } }\n',
    'c.yaml:1:20: queues.ready.capacty: unknown key "capacty"; did you mean "capacity"?',
  );
  await only(
    task('timeout: 4'),
    'c.yaml:4:5: tasks[0] (a).timeout: unknown key "timeout"; did you mean "timeout_seconds"?',
  );
  await only(
    'tasks:\n  - name: a\n',
    'c.yaml:2:5: tasks[0] (a): expected the key "handler" (a string), got none',
  );
  await only('tasks:\n  - handler: noop\n', 'c.yaml:2:5: tasks[0]: expected the key "name", got none');
  await only(
    'queues:\n  ready:\n    capacity: ten\n',
    'c.yaml:3:15: queues.ready.capacity: expected an integer from 1 to 10000000, got "ten"',
  );
  await only('tasks:\n  - 5\n', 'c.yaml:2:5: tasks[0]: expected an object, got 5');
  await only('tasks: {}\n', 'c.yaml:1:8: tasks: expected a list, got an object');
  await only('version: 1.10\n', 'c.yaml:1:10: version: expected a string or null, got 1.1; put it in quotes');
  await only(
    'memory: { budget_mb: 1 }\n',
    'c.yaml:1:22: memory.budget_mb: expected an integer from 16 to 1048576, got 1',
  );
  await only(
    'log: { level: debgu }\n',
    'c.yaml:1:15: log.level: expected one of "debug", "info", "warn", "error", "silent", got "debgu"; did you mean "debug"?',
  );
  await only(
    'pools: { cpu: { threads: 0 } }\n',
    'c.yaml:1:26: pools.cpu.threads: expected "auto" or an integer from 1 to 64, got 0',
  );
  await only(
    'groups: { api: {} }\n',
    'c.yaml:1:16: groups.api: expected concurrency, rate or both, got neither; add concurrency: 10',
  );
});

test('tasks: names', async () => {
  await only(
    'tasks:\n  - { name: Foo, handler: noop }\n',
    `c.yaml:2:13: tasks[0].name: expected ${NAME}, got "Foo"`,
  );
  await only(
    'tasks:\n  - { name: a, handler: noop }\n  - { name: a, handler: noop }\n',
    'c.yaml:3:13: tasks[1] (a).name: expected a name that no other task has, got "a", which is at c.yaml:2 too',
  );
});

test('tasks: handlers, kinds and their input', async () => {
  await only(
    'tasks:\n  - { name: a, handler: nop }\n',
    'c.yaml:2:25: tasks[0] (a).handler: expected a built-in handler or the name of a module of handlers, got "nop"; did you mean "noop"?',
  );
  await only(
    'tasks:\n  - { name: a, handler: ./handlers/sleep.ts }\n',
    'c.yaml:2:25: tasks[0] (a).handler: expected a built-in handler or the name of a module of handlers, got "./handlers/sleep.ts"; did you mean "sleep"?',
  );
  await only(
    task('kind: cpu'),
    'c.yaml:4:11: tasks[0] (a).kind: expected io, which the built-in handler noop is, got cpu; remove the key',
  );
  const hash = (line: string) => `tasks:\n  - name: a\n    handler: hash\n    ${line}\n`;
  await only(
    hash('with: { algorithm: sha265 }'),
    'c.yaml:4:24: tasks[0] (a).with.algorithm: expected one of "sha256", "sha512", "sha1", got "sha265"; did you mean "sha256"?',
  );
  await only(
    hash('with: { manifset: x }'),
    'c.yaml:4:13: tasks[0] (a).with.manifset: unknown key "manifset"; did you mean "manifest"?',
  );
  await only(
    hash('every: 5s'),
    'c.yaml:2:5: tasks[0] (a): expected each: { files: GLOB } or with: { path: FILE }, which hash needs to run by itself, got neither',
  );
  await only(
    hash('run_on_start: true'),
    'c.yaml:2:5: tasks[0] (a): expected each: { files: GLOB } or with: { path: FILE }, which hash needs to run by itself, got neither',
  );
  assert.deepEqual(await problemsOf(hash('with: { path: x }\n    every: 5s')), []);
  await only(
    'tasks:\n  - name: a\n    handler: sleep\n',
    'c.yaml:2:5: tasks[0] (a).with: expected the key "ms" (a number ≥ 0), got none',
  );
  await only(
    task('with: { deep: [1, .inf] }'),
    'c.yaml:4:23: tasks[0] (a).with.deep[1]: expected a value that JSON can hold, got Infinity',
  );
  await only(
    task('each: { files: "./in/*/../x" }'),
    'c.yaml:4:20: tasks[0] (a).each.files: expected a pattern that does not climb with ".." after a wildcard, got "./in/*/../x"',
  );
  await only(
    task('each: { files: ./in/ }'),
    'c.yaml:4:20: tasks[0] (a).each.files: expected a pattern of files such as in/**/*, got "./in/"',
  );
});

test('tasks: when they run', async () => {
  assert.deepEqual(await problemsOf(task('schedule: "@daily"', 'every: 5s', 'at: 2026-12-24T18:00:00Z')), [
    'c.yaml:5:5: tasks[0] (a).every: expected one of schedule, every and at, got schedule and every and at; remove all but one',
    'c.yaml:6:5: tasks[0] (a).at: expected one of schedule, every and at, got schedule and every and at; remove all but one',
  ]);
  await only(
    task('every: 5x'),
    'c.yaml:4:12: tasks[0] (a).every: expected a duration such as 500ms, 5s, 1m30s or 2h, or a number of seconds, got "5x"',
  );
  await only(
    task('every: 9ms'),
    'c.yaml:4:12: tasks[0] (a).every: expected an interval of at least 10ms (timers are late or early by about a millisecond), got "9ms"',
  );
  await only(
    task('every: 0.001'),
    'c.yaml:4:12: tasks[0] (a).every: expected an interval of at least 10ms (timers are late or early by about a millisecond), got 0.001',
  );
  for (const zero of ['0', '0s', '"0"', '"0ms"', '-5', '0.0']) {
    const [line = '', ...more] = await problemsOf(task(`every: ${zero}`));
    assert.deepEqual(more, [], zero);
    assert.match(
      line,
      /^c\.yaml:4:12: tasks\[0\] \(a\)\.every: expected an interval above 0, got .*; write one such as 5s or 1m30s$/,
      zero,
    );
  }
  await only(
    task('every: 10.5ms'),
    'c.yaml:4:12: tasks[0] (a).every: expected a whole number of milliseconds, got "10.5ms"; write 10ms or 11ms',
  );
  await only(
    task('every: 0.3333'),
    'c.yaml:4:12: tasks[0] (a).every: expected a whole number of milliseconds, got 0.3333; write 333ms or 334ms',
  );
  await only(task('every: true'), 'c.yaml:4:12: tasks[0] (a).every: expected a string or a number, got true');
  await only(
    task('every: 400000000'),
    'c.yaml:4:12: tasks[0] (a).every: expected an interval of at most ten years, got 400000000',
  );
  await only(
    task('every: 9000d'),
    'c.yaml:4:12: tasks[0] (a).every: expected an interval of at most ten years, got "9000d"',
  );
  await only(
    task('at: 2026-12-24T18:00:00'),
    'c.yaml:4:9: tasks[0] (a).at: expected an instant with its zone, such as 2026-12-24T18:00:00Z or 2026-12-24T19:00:00+01:00, got "2026-12-24T18:00:00"',
  );
  await only(
    task('schedule: "* * *"'),
    'c.yaml:4:15: tasks[0] (a).schedule: expected a cron expression of 5 fields, or 6 with seconds first, got 3 in "* * *"',
  );
  await only(
    task('schedule: "@reboot"'),
    'c.yaml:4:15: tasks[0] (a).schedule: expected one of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly, got "@reboot"; use run_on_start: true',
  );
  await only(
    task('schedule: "@daily"', 'time_zone: Europe/Berln'),
    'c.yaml:5:16: tasks[0] (a).time_zone: expected the IANA name of a time zone such as Europe/Berlin, got "Europe/Berln"',
  );
});

test('zones that the schedule can compute with are known, and nothing else is', async () => {
  for (const zone of ['Asia/Calcutta', 'europe/berlin', 'UTC', '"+02:00"', '"-0330"']) {
    assert.deepEqual(await problemsOf(task('schedule: "@daily"', `time_zone: ${zone}`)), [], zone);
  }
  for (const zone of [
    '"2026-01-01T00:00Z"',
    '"2026-01-01T00:00[Europe/Berlin]"',
    'SystemV/EST5',
    'Etc/Unknown',
  ]) {
    const [problem] = await problemsOf(task('schedule: "@daily"', `time_zone: ${zone}`));
    assert.match(problem ?? '', /expected the IANA name of a time zone/, zone);
  }
});

test('the parser of cron expressions is asked once for each expression', async () => {
  const asked: string[] = [];
  const counted = (expression: string) => {
    asked.push(expression);
    return expression.startsWith('61')
      ? { problem: 'expected a minute from 0 to 59, got 61' }
      : parseCron(expression);
  };
  const text = ['61 * * * *', '5 * * * *', '61 * * * *'].map(
    (cron, i) => `  - { name: t${i}, handler: noop, schedule: "${cron}", time_zone: Asia/Tokyo }\n`,
  );
  assert.deepEqual(await problemsOf(`tasks:\n${text.join('')}`, { parseCron: counted }), [
    'c.yaml:2:42: tasks[0] (t0).schedule: expected a minute from 0 to 59, got 61',
    'c.yaml:4:42: tasks[2] (t2).schedule: expected a minute from 0 to 59, got 61',
  ]);
  assert.deepEqual(asked, ['61 * * * *', '5 * * * *']);
});

test('tasks: retries, groups and times', async () => {
  await only(
    task('backoff: { kind: scaled, jitter_seconds: 1 }'),
    'c.yaml:4:30: tasks[0] (a).backoff.jitter_seconds: expected jitter_seconds with kind: additive only, got it with scaled; remove it or say kind: additive',
  );
  await only(
    task('backoff: { base_seconds: 90 }'),
    'c.yaml:4:30: tasks[0] (a).backoff.base_seconds: expected cap_seconds to be at least base_seconds (90), got 60',
  );
  await only(
    task('timeout_seconds: 0'),
    'c.yaml:4:22: tasks[0] (a).timeout_seconds: expected a number > 0 and ≤ 2147483, got 0',
  );
  await only(
    task('max_retry: -1'),
    'c.yaml:4:16: tasks[0] (a).max_retry: expected an integer from 0 to 1000, got -1',
  );
  await only(
    task('group: api'),
    'c.yaml:4:12: tasks[0] (a).group: expected a name listed under groups, got "api"; add it: groups: { api: { concurrency: 10 } }',
  );
  await only(
    `groups: { api: { concurrency: 1 } }\n${task('group: apo')}`,
    'c.yaml:5:12: tasks[0] (a).group: expected a name listed under groups, got "apo"; did you mean "api"?',
  );
});

test('sections: two ways to say one thing, addresses, short forms', async () => {
  await only(
    'queues: { ready: { capacity: 5, tolerate_seconds: 3 } }\n',
    'c.yaml:1:20: queues.ready.capacity: expected either capacity or backlog_per_second and tolerate_seconds, got both; remove one',
  );
  await only(
    'pools: { io: { slots: 5, wait_ms: 3 } }\n',
    'c.yaml:1:16: pools.io.slots: expected either a number of slots or wait_ms and compute_ms, got both; remove one',
  );
  await only(
    'queue_size: 5\nqueues: { ready: { capacity: 5 } }\n',
    'c.yaml:1:1: queue_size: expected either queue_size or queues.ready.capacity, got both; remove one',
  );
  await only(
    'log: { level: info }\nlog_level: info\n',
    'c.yaml:2:1: log_level: expected either log_level or log.level, got both; remove one',
  );
  await only(
    'workers: lots\n',
    'c.yaml:1:10: pools.io.slots: expected "measured" or an integer from 1 to 1000, got "lots"',
  );
  for (const listen of ['9464', '":9464"', 'host', 'a:99999', '"::1:80"']) {
    const [problem, ...more] = await problemsOf(`metrics: { listen: ${listen} }\n`);
    assert.deepEqual(more, []);
    assert.match(problem ?? '', /^c\.yaml:1:20: metrics\.listen: expected /, listen);
  }
});

test('globs: what is opened is closed', async () => {
  const got = async (glob: string) => {
    const [problem = '', ...more] = await problemsOf(task(`each: { files: '${glob}' }`));
    assert.deepEqual(more, []);
    return /a pattern whose (.) is closed/.exec(problem)?.[1] ?? problem;
  };
  for (const glob of ['in/[ab', 'in/[a/b]', 'in/[]', 'in/[!]x', 'in/{a,[b}', 'in/[a\\]']) {
    assert.equal(await got(glob), '[', glob);
  }
  for (const glob of ['in/*.{a,b', 'in/{a,{b,c}', 'in/{a,b\\}']) assert.equal(await got(glob), '{', glob);
  for (const glob of ['in/[]]', 'in/[!]a]', 'in/[{]', 'in/\\[a', 'in/\\{a*', 'in/{a,b}/[c-d]}', 'in/a]b*']) {
    assert.equal(await got(glob), '', glob);
  }
  await only(
    'handlers: ["./h/*.{ts,js"]\n',
    'c.yaml:1:12: handlers[0]: expected a pattern whose { is closed (a plain one is written \\{), got "./h/*.{ts,js"',
  );
});

test('a command that cannot start as it is written', async () => {
  const command = (...keys: string[]) =>
    problemsOf(`tasks:\n  - name: a\n    handler: command\n    with: { ${keys.join(', ')} }\n`, {
      builtIns: builtInHandlers,
    });
  assert.deepEqual(await command('argv: "echo hi"'), [
    'c.yaml:4:19: tasks[0] (a).with.argv: expected argv to be a list of strings, or shell: true beside it, got "echo hi"',
  ]);
  assert.match(
    (await command('argv: [echo, hi]', 'shell: true'))[0] ?? '',
    /argv: expected argv to be one text/,
  );
  assert.match(
    (await command('argv: [echo]', 'kill_signal: SIGNOPE'))[0] ?? '',
    /with.kill_signal: expected/,
  );
  assert.deepEqual(await command('argv: "echo hi"', 'shell: true'), []);
  assert.deepEqual(await command('argv: [echo, hi]'), []);
});

test('a misspelt key beside the right one, and what null means', async () => {
  await only(
    task('timeout_seconds: 1', 'timeout_second: 1'),
    'c.yaml:5:5: tasks[0] (a).timeout_second: unknown key "timeout_second"; "timeout_seconds" is there beside it; remove one of the two',
  );
  await only(
    'tasks:\n  - name: a\n    handler: hash\n    with: { algorithm: sha1, algoritm: sha1 }\n',
    'c.yaml:4:30: tasks[0] (a).with.algoritm: unknown key "algoritm"; "algorithm" is there beside it; remove one of the two',
  );
  await only(
    task('time_zone: null'),
    'c.yaml:4:16: tasks[0] (a).time_zone: expected a string, got null; remove the key, or give it a value',
  );
});

test('all problems are listed at once, in the order of their places', async () => {
  const problems = await problemsOf(
    'log: { level: x }\nlog: {}\nbad: 1\ntasks:\n  - { name: A, handler: no }\n  - { name: b, handler: noop, every: x, group: g, max_retry: x }\n',
  );
  assert.deepEqual(
    problems.map((line) => line.split(': ')[0]),
    [
      'c.yaml:1:15',
      'c.yaml:2:1',
      'c.yaml:3:1',
      'c.yaml:5:13',
      'c.yaml:5:25',
      'c.yaml:6:38',
      'c.yaml:6:48',
      'c.yaml:6:62',
    ],
  );
});

test('warnings do not stop the load', async () => {
  assert.deepEqual(await warningsOf(task('timeout_seconds: 20')), [
    'c.yaml:4:22: tasks[0] (a).timeout_seconds: expected a timeout of at most shutdown.grace_seconds (15), got 20: a longer run is cut at shutdown and begins anew at the next start; raise grace_seconds or lower the timeout',
  ]);
  assert.equal(
    (await warningsOf(`defaults: { timeout_seconds: 20 }\n${task()}`))[0]?.startsWith(
      'c.yaml:1:30: defaults.timeout_seconds',
    ),
    true,
  );
  assert.equal(
    (await warningsOf(`shutdown: { grace_seconds: 5 }\n${task()}`))[0]?.startsWith(
      'c.yaml:1:28: shutdown.grace_seconds',
    ),
    true,
  );
  assert.deepEqual(await warningsOf(task()), [], 'nothing was written that could be lowered');
  assert.deepEqual(
    await warningsOf(`shutdown: { grace_seconds: 0 }\n${task('timeout_seconds: 20')}`),
    [],
    'meant to be cut',
  );
  assert.deepEqual(await warningsOf(task('timeout_seconds: 15')), []);
  assert.match((await warningsOf('metrics: { listen: "0.0.0.0:9464" }\n'))[0] ?? '', /loopback/);
  assert.deepEqual(await warningsOf('metrics: { listen: "[::1]:0" }\n'), []);
  assert.match(
    (await warningsOf('pools: { cpu: { threads: 9 } }\n'))[0] ?? '',
    /expected at most 4, the cores there are, got 9/,
  );
  const looked: string[] = [];
  const isFolder = (path: string) => looked.push(path) === 0;
  assert.deepEqual(await warningsOf(task('each: { files: "./in/*" }'), { isFolder }), [
    'c.yaml:4:20: tasks[0] (a).each.files: expected a folder to look through, got "in", which is none yet: scans fail until it is there',
  ]);
  assert.deepEqual(looked, ['/etc/app/in']);
  assert.match(
    (await warningsOf(task('at: 2020-01-01T00:00:00Z'), { nowMs: Date.UTC(2026, 0) }))[0] ?? '',
    /which has passed/,
  );
});

test('a config made in code has paths instead of lines', () => {
  const options = { directory: '/d', cores: 2, builtIns };
  assert.throws(
    () => resolveConfig({ tasks: [{ name: 'a', handler: 'noop', every: 'x' }], nope: 1 }, options),
    (error) => {
      assert.ok(error instanceof ConfigInvalid);
      assert.equal(error.code, 'config-invalid');
      const lines = error.problems.map(formatProblem);
      assert.match(lines[0] ?? '', /^options: nope: unknown key "nope"/);
      assert.match(lines[1] ?? '', /^options: tasks\[0\] \(a\)\.every: expected a duration/);
      assert.equal(error.message, lines.join('\n'));
      return true;
    },
  );
  assert.throws(() => resolveConfig(5, options), /expected an object of options, got 5/);
  const raw = Object.freeze({
    workers: 3,
    tasks: Object.freeze([Object.freeze({ name: 'a', handler: 'noop' })]),
  });
  assert.equal(resolveConfig(raw, options).config.pools.io.slots, 3);
  assert.equal(resolveConfig(undefined, options).config.file, null);
  const cron = { tasks: [{ name: 'a', handler: 'noop', schedule: '* * * * *' }] };
  assert.throws(
    () => resolveConfig(cron, options),
    /expected no cron expression, got "\* \* \* \* \*": options.parseCron/,
  );
  assert.equal(resolveConfig(cron, { ...options, parseCron }).config.tasks[0]?.schedule?.kind, 'cron');
});

test('an error of the loader itself is not taken for a bad config', async () => {
  const broken = () => {
    throw new TypeError('broken');
  };
  await assert.rejects(load(task('schedule: "@daily"'), { parseCron: broken }), TypeError);
});
