import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as passed } from 'node:timers/promises';
import type { LogRecord, ReloadReply } from '../../src/actors/protocol.ts';
import type { Config, LoadedConfig } from '../../src/main/config/index.ts';
import { configChanges } from '../../src/main/config-changes.ts';
import { loadConfigFile } from '../../src/main/config-part.ts';
import { Daemon } from '../../src/main/daemon.ts';
import { Reloader, sourceIn } from '../../src/main/reload.ts';
import { load } from '../config/config-fixtures.ts';
import { http } from '../control/fixtures.ts';
import { objectBytes } from '../support/fresh-heap.ts';
import { tempDir } from '../support/temp-dir.ts';

const config = async (text: string): Promise<Config> => (await load(text)).config;

const BASE = `
version: v1
groups: { api: { concurrency: 3 } }
tasks:
  - { name: a, handler: noop, every: 5s, with: { x: 1, y: 2 } }
  - { name: b, handler: sleep, with: { ms: 5 } }
`;

test('the same config, its keys and tasks in another order, is no change', async () => {
  const other = `
tasks:
  - { handler: sleep, with: { ms: 5 }, name: b }
  - { name: a, with: { y: 2, x: 1 }, every: 5s, handler: noop }
groups: { api: { concurrency: 3 } }
version: v1
`;
  assert.deepEqual(configChanges(await config(BASE), await config(other)), []);
});

test('changes are named as they stand in the file', async () => {
  const before = await config(BASE);
  const changes = async (more: string) => configChanges(before, await config(`${BASE}\n${more}`));
  assert.deepEqual(await changes('shutdown: { grace_seconds: 3 }'), ['shutdown.grace_seconds changed']);
  assert.deepEqual(await changes('retention: { max_mb: 3, result_ttl_hours: 1 }'), [
    'retention.result_ttl_hours changed',
    'retention.max_mb changed',
  ]);
  assert.deepEqual(await changes('metrics: null'), ['metrics.listen changed']);
  assert.deepEqual(await changes('metrics: { listen: "127.0.0.1:0" }'), ['metrics.listen changed']);
  assert.deepEqual(
    await changes('queues: { ready: { tolerate_seconds: 10 }, dead_letter: { capacity: 7 } }'),
    [
      'queues.ready.capacity changed',
      'queues.ready.tolerate_seconds changed',
      'queues.dead_letter.capacity changed',
    ],
  );
  assert.deepEqual(await changes('pools: { cpu: { idle_seconds: 1 }, io: { slots: 7 } }'), [
    'pools.cpu.idle_seconds changed',
    'pools.io.slots changed',
  ]);
  const grouped = BASE.replace(
    'api: { concurrency: 3 }',
    'api: { concurrency: 4 }, db_two: { concurrency: 1 }',
  );
  assert.deepEqual(configChanges(before, await config(grouped)), [
    'groups.api.concurrency changed',
    'groups.db_two changed',
  ]);
});

test('tasks are told apart: added, removed, changed', async () => {
  const after = BASE.replace('name: b', 'name: c').replace('every: 5s', 'every: 6s').replace('v1', 'v2');
  assert.deepEqual(configChanges(await config(BASE), await config(after)), [
    'version changed',
    'task a changed',
    'task c added',
    'task b removed',
  ]);
});

interface Rig {
  readonly reloader: Reloader;
  readonly lines: (readonly [LogRecord['level'], string, LogRecord['fields']])[];
  /** What was taken up. */
  readonly bounds: Config[];
  next: () => Promise<LoadedConfig>;
  /** Of the file, and how often it was written. */
  text: string | null;
  written: number;
}

async function rig(): Promise<Rig> {
  const made: Rig = {
    reloader: new Reloader({
      config: await config(BASE),
      source: {
        look: () => (made.text === null ? null : { text: made.text, writtenMs: made.written }),
        load: () => made.next(),
      },
      onBounds: (fresh) => made.bounds.push(fresh),
      log: (level, msg, fields) => made.lines.push([level, msg, fields]),
      tidy: () => {},
    }),
    lines: [],
    bounds: [],
    next: () => load(BASE),
    text: null,
    written: 0,
  };
  return made;
}

test('nothing changed: said so, one line, good', async () => {
  const { reloader, lines } = await rig();
  assert.deepEqual(await reloader.reload(), { outcome: 'unchanged', version: 'v1', tasks: 2 });
  assert.equal(reloader.ok, true);
  assert.deepEqual(lines, [['info', 'reload: nothing changed', { tasks: 2 }]]);
});

test('a wrong config: every problem, one line with their number and the first, and the next good one is good again', async () => {
  const made = await rig();
  made.next = () => load('bogus: 1\ntasks: [{ name: a }, { name: a, handler: nope }]');
  const reply = (await made.reloader.reload()) as Extract<ReloadReply, { outcome: 'invalid' }>;
  assert.equal(reply.outcome, 'invalid');
  assert.ok(reply.problems.length >= 4, JSON.stringify(reply.problems));
  assert.equal(made.reloader.ok, false);
  assert.equal(made.lines.length, 1);
  const [level, , fields] = made.lines[0]!;
  assert.deepEqual([level, fields?.problems], ['error', reply.problems.length]);
  assert.match(String(fields?.first), /^\/etc\/app\/c\.yaml:1:1: .*bogus/);
  made.next = () => load(BASE);
  await made.reloader.reload();
  assert.equal(made.reloader.ok, true);
});

test('a config that differs is refused: ten changes by name, of more the number', async () => {
  const made = await rig();
  const tasks = Array.from({ length: 25 }, (_, index) => `  - { name: t${index}, handler: noop }`).join('\n');
  made.next = () => load(`${BASE}${tasks}`);
  const reply = (await made.reloader.reload()) as Extract<ReloadReply, { outcome: 'differs' }>;
  assert.deepEqual([reply.outcome, reply.changes.length, reply.more], ['differs', 10, 15]);
  assert.equal(reply.changes[0], 'task t0 added');
  assert.equal(made.reloader.ok, false);
  assert.deepEqual(
    made.lines.map(([level]) => level),
    ['warn'],
  );
});

test('bounds, priorities and the version are taken up at once, alone; the next reload is held against them', async () => {
  const made = await rig();
  const other = BASE.replace('version: v1', 'version: v2\nconcurrency: 9')
    .replace('api: { concurrency: 3 }', 'api: { rate: 5/s }, db: { concurrency: 1 }')
    .replace('handler: sleep,', 'handler: sleep, group: db, priority: 4, overlap: skip, concurrency: 2,');
  made.next = () => load(other);
  const changes = [
    'version changed',
    'concurrency changed',
    'groups.api.concurrency changed',
    'groups.api.rate changed',
    'groups.db changed',
    'task b changed',
  ];
  assert.deepEqual(await made.reloader.reload(), {
    outcome: 'taken-up',
    version: 'v2',
    tasks: 2,
    changes,
    more: 0,
  });
  assert.deepEqual(
    made.bounds.map(({ concurrency, groups }) => [concurrency, Object.keys(groups)]),
    [[9, ['api', 'db']]],
  );
  assert.deepEqual(made.lines, [['info', 'reload: taken up', { changes, more: 0 }]]);
  assert.equal((await made.reloader.reload()).outcome, 'unchanged');
  assert.equal(made.reloader.config.version, 'v2');
  for (const more of [
    other.replace('ms: 5', 'ms: 6'),
    BASE.replace('name: b', 'name: c'),
    `${other}log: { level: warn }`,
  ]) {
    made.next = () => load(more);
    assert.equal((await made.reloader.reload()).outcome, 'differs');
  }
  assert.equal(made.bounds.length, 1);
  made.next = () => load(BASE);
  assert.equal((await made.reloader.reload()).outcome, 'taken-up');
});

test('what keeps the file from being looked at is told as it is', async () => {
  const made = await rig();
  made.next = async () => {
    throw new Error('EMFILE');
  };
  await assert.rejects(made.reloader.reload(), /EMFILE/);
  assert.equal(made.reloader.ok, false);
  assert.deepEqual(made.lines, [['error', 'reload failed', { error: 'EMFILE' }]]);
});

test('callers at one time share one reload', async () => {
  const made = await rig();
  let loads = 0;
  made.next = () => {
    loads++;
    return load(BASE);
  };
  await Promise.all([made.reloader.reload(), made.reloader.reload(), made.reloader.reload()]);
  assert.equal(loads, 1);
  await made.reloader.reload();
  assert.equal(loads, 2);
});

test('a text that is known to say what is in use is not looked at again, whatever came in between', async () => {
  const made = await rig();
  let loads = 0;
  const reloadOf = async (text: string) => {
    made.text = text;
    made.next = () => {
      loads++;
      return load(text);
    };
    const before = loads;
    const { outcome } = await made.reloader.reload();
    return [outcome, loads - before];
  };
  const other = BASE.replace('version: v1', 'version: v2');
  assert.deepEqual(await reloadOf(BASE), ['unchanged', 1], 'the first one finds it out');
  assert.deepEqual(await reloadOf(BASE), ['unchanged', 0]);
  assert.deepEqual(await reloadOf(`# a comment\n${BASE}`), ['unchanged', 1]);
  assert.deepEqual(await reloadOf(BASE), ['unchanged', 1], 'only the last one is known');
  assert.deepEqual(await reloadOf('bogus: 1'), ['invalid', 1]);
  assert.equal(made.reloader.ok, false);
  assert.deepEqual(await reloadOf(BASE), ['unchanged', 0]);
  assert.equal(made.reloader.ok, true);
  assert.deepEqual(await reloadOf(BASE.replace('name: b', 'name: c')), ['differs', 1]);
  assert.deepEqual(await reloadOf(BASE), ['unchanged', 0]);
  assert.deepEqual(await reloadOf(other), ['taken-up', 1]);
  assert.deepEqual(await reloadOf(other), ['unchanged', 0]);
  assert.deepEqual(await reloadOf(BASE), ['taken-up', 1]);
});

test('a file that is written while it is loaded is looked at again, also where it is as before in the end', async () => {
  const made = await rig();
  let loads = 0;
  made.text = BASE;
  made.next = () => {
    loads++;
    made.written++;
    return load(BASE);
  };
  await made.reloader.reload();
  made.next = () => {
    loads++;
    return load(BASE);
  };
  await made.reloader.reload();
  assert.equal(loads, 2);
  await made.reloader.reload();
  assert.equal(loads, 2);
});

test('a config with handlers is looked at each time: modules come and go beside it', async () => {
  const made = await rig();
  made.text = BASE;
  made.next = async () => ({ ...(await load(BASE)), selfContained: false });
  for (const _time of [1, 2]) assert.equal((await made.reloader.reload()).outcome, 'unchanged');
  made.next = () => load(BASE.replace('name: b', 'name: c'));
  assert.equal((await made.reloader.reload()).outcome, 'differs');
  const loaded = await load(`handlers: ['./none/*.js']\n${BASE}`);
  assert.equal(loaded.selfContained, false);
  assert.equal((await load(BASE)).selfContained, true);
});

test('a daemon that was made in code has nothing to reload', async () => {
  const reloader = new Reloader({
    config: await config(BASE),
    source: null,
    onBounds: () => {},
    log: () => {},
    tidy: () => {},
  });
  await assert.rejects(reloader.reload(), { code: 'usage' });
  assert.equal(reloader.ok, true);
});

test('a running daemon: the file is read anew, nothing of 50 reloads stays, and it goes on whatever the file says', async (t) => {
  const dir = tempDir(t);
  const file = join(dir, 'c.yaml');
  const tasks = Array.from({ length: 60 }, (_, index) => {
    return `  - { name: t${index}, handler: noop, schedule: "${index % 60} 3 ${1 + (index % 28)} 6 *" }`;
  }).join('\n');
  const text = `metrics: { listen: null }\nlog: { file: ./log }\ntasks:\n${tasks}\n`;
  writeFileSync(file, text);
  const seen: WeakRef<Config>[] = [];
  const read = () => loadConfigFile({ file, env: {}, nowMs: Date.now() });
  const daemon = new Daemon({
    config: (await read()).config,
    version: 'test',
    configSource: sourceIn(file, async () => {
      const loaded = await read();
      seen.push(new WeakRef(loaded.config));
      return loaded;
    }),
  });
  t.after(() => daemon.stop());
  await daemon.start();
  const socket = join(dir, 'state', 'control.sock');
  const reload = () => http(socket, 'POST', '/reload');
  const unchanged = { status: 200, document: { changed: false, config_version: null, tasks: 60 } };
  let written = 0;
  const heapAfter = async (times: number) => {
    for (let count = 0; count < times; count++) {
      writeFileSync(file, `${text}# ${++written}\n`);
      const { status, document } = await reload();
      assert.deepEqual({ status, document }, unchanged);
    }
    // Of the last one something may still be on its way.
    await new Promise(setImmediate);
    return objectBytes();
  };
  const before = await heapAfter(10);
  const grown = (await heapAfter(50)) - before;
  assert.equal(seen.length, 60);
  await reload();
  await reload();
  assert.equal(seen.length, 60, 'the same file, and found so before');
  writeFileSync(file, text);
  await reload();
  await reload();
  assert.equal(seen.length, 61);
  assert.ok(seen.filter((ref) => ref.deref() !== undefined).length <= 1, 'configs are let go');
  assert.ok(grown < 500_000, `heap grew by ${grown} bytes`);

  writeFileSync(file, text.replace('name: t7,', 'name: seven,'));
  const differs = await reload();
  assert.equal(differs.status, 409);
  assert.match(
    JSON.stringify(differs.document),
    /restart-needed.*task seven added, task t7 removed; .*restart/,
  );
  assert.equal(daemon.view().configReloadOk, false);

  writeFileSync(file, `${text}bogus: 1\nmemory: { budget_mb: none }\n`);
  const wrong = await reload();
  assert.equal(wrong.status, 422);
  const { problems, error } = wrong.document as { problems: { line: number }[]; error: { code: string } };
  assert.deepEqual([problems.length, error.code], [2, 'config-invalid']);
  assert.deepEqual(
    problems.map(({ line }) => line),
    [64, 65],
  );

  rmSync(file);
  assert.equal((await reload()).status, 422);
  assert.equal(daemon.view().configReloadOk, false);
  writeFileSync(file, text);
  assert.equal((await reload()).status, 200);
  assert.equal(daemon.view().configReloadOk, true);
  assert.equal(daemon.view().tasks.length, 60);
  const reloads = () =>
    readFileSync(join(dir, 'log'), 'utf8')
      .split('\n')
      .filter((line) => line.includes('"reload'));
  const refused = () => reloads().filter((line) => line.includes('refused')).length;
  // Lines are gathered for a while; the newest are not for the last moments of a stop.
  for (let tries = 0; tries < 500 && refused() < 3; tries++) await passed(10);
  await daemon.stop();
  assert.equal(refused(), 3, reloads().join('\n'));
});
