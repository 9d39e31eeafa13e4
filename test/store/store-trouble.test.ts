import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { RunEvent } from '../../src/actors/records.ts';
import { SqliteStore } from '../../src/actors/store/index.ts';
import { SqliteCode } from '../../src/actors/store/sqlite/database.ts';
import { type ActorRig, actorRig, type Said } from './actor-rig.ts';
import { begin, end } from './feed.ts';
import { dump, ROOMY } from './sqlite-journal.ts';

const ALL = { task: null, state: null, limit: 100 } as const;
const FULL = { code: SqliteCode.Full, what: 'writes' } as const;
const REASON = 'the disk is full (injected 13)';

function record(rig: ActorRig, first: number, ...events: RunEvent[]): void {
  rig.store.tryTell('record', { first, events, dropped: [] });
}

/** Opened, with one run kept. */
async function working(rig: ActorRig): Promise<ActorRig> {
  await rig.store.ask('open', { boot: 'boot-1', kept: 0 });
  record(rig, 1, begin('a@1'));
  await rig.heard();
  return rig;
}

async function troubled(rig: ActorRig): Promise<ActorRig> {
  await working(rig);
  rig.databases.broken = FULL;
  record(rig, 2, end('a@1'));
  await rig.heard();
  return rig;
}

/** The lines of the log without their times. */
function untimed(said: readonly Said[]) {
  return said.map(([what, body]) => {
    if (what !== 'log') return [what, body];
    const { level, msg, fields } = body as { level: string; msg: string; fields: unknown };
    return ['log', { level, msg, fields }];
  });
}

const BEGINNING = [
  ['mark opened', null],
  ['log', { level: 'warn', msg: 'journal cannot be written', fields: { reason: REASON } }],
  ['store-state', { writable: false, reason: REASON }],
];

test('trouble: work goes on without the journal, and it is said once', async (t) => {
  const rig = await working(actorRig(t));
  rig.databases.broken = FULL;
  record(rig, 2, end('a@1'), begin('a@2'));
  assert.deepEqual(sorted(untimed(await rig.heard())), sorted(BEGINNING));
  assert.equal(rig.mark.passed(1000), true);
  record(rig, 4, end('a@2'));
  record(rig, 2, end('a@1'), begin('a@2'));
  await rig.clock.advance(900);
  assert.deepEqual(await rig.heard(), [], 'what is sent meanwhile is dropped');
  await rig.clock.advance(60_000);
  assert.deepEqual(await rig.heard(), [], 'nor is it said again');
  assert.equal(dump(rig.file).runs?.[0]?.state, 'running');
  assert.deepEqual(rig.escalated, []);
});

test('trouble: it is tried again after 1, 2, 4, 8, 10 and 10 s', async (t) => {
  const rig = await troubled(actorRig(t));
  const probes = () => rig.databases.calls.get('begin') ?? 0;
  let before = probes();
  for (const seconds of [1, 2, 4, 8, 10, 10]) {
    await rig.clock.advance(1000 * seconds - 1);
    assert.equal(probes(), before, `not before ${seconds} s`);
    await rig.clock.advance(1);
    assert.equal(probes(), ++before, `after ${seconds} s`);
  }
});

test('trouble that passes: the mark is closed, main is told and sends again, nothing is missing', async (t) => {
  const rig = await troubled(actorRig(t));
  await rig.clock.advance(2500);
  rig.databases.broken = null;
  await rig.clock.advance(500);
  assert.deepEqual(untimed(await rig.heard()).slice(0, 2), [
    ['mark', 1],
    ['mark closed', null],
  ]);
  assert.deepEqual([rig.mark.passed(1), rig.mark.passed(2)], [true, false]);
  record(rig, 2, end('a@1'));
  record(rig, 3, begin('a@2'));
  const said = [
    ['mark', 3],
    ['recorded', { seq: 3 }],
    ['runs', 1],
    ['runs', 1],
  ];
  assert.deepEqual(await rig.heard(), said);
  const rows = dump(rig.file).runs?.map((row) => [row.run, row.state]);
  assert.deepEqual(rows, [
    ['a@1', 'success'],
    ['a@2', 'running'],
  ]);
});

test('trouble that passes: how long it was is logged, and the next one begins anew', async (t) => {
  const rig = await troubled(actorRig(t));
  rig.databases.broken = null;
  await rig.clock.advance(1000);
  assert.deepEqual(untimed(await rig.heard()).slice(2), [['store-state', { writable: true }]]);
  await rig.clock.advance(2000);
  assert.deepEqual(untimed(await rig.heard()), [
    ['log', { level: 'info', msg: 'journal is written again', fields: { after_ms: 1000 } }],
  ]);
  rig.databases.broken = FULL;
  record(rig, 2, end('a@1'));
  assert.deepEqual(sorted(untimed(await rig.heard())), sorted(BEGINNING));
  const begun = rig.databases.calls.get('begin');
  await rig.clock.advance(1000);
  assert.equal(rig.databases.calls.get('begin'), begun! + 1, 'after 1 s again');
});

test('trouble that comes again at once is still the same: one line when it begins, one when it is over', async (t) => {
  const rig = await troubled(actorRig(t));
  const said: unknown[] = [];
  for (let round = 0; round < 5; round++) {
    rig.databases.broken = null;
    await rig.clock.advance(1000);
    rig.databases.broken = FULL;
    record(rig, 2, end('a@1'));
    said.push(...untimed(await rig.heard()));
  }
  assert.deepEqual(
    said.filter((one) => (one as Said)[0] === 'log'),
    [],
  );
  assert.equal(said.filter((one) => (one as Said)[0] === 'store-state').length, 10, 'main is told each time');
  rig.databases.broken = null;
  await rig.clock.advance(3000);
  const last = untimed(await rig.heard()).filter(([what]) => what === 'log');
  assert.deepEqual(last, [
    ['log', { level: 'info', msg: 'journal is written again', fields: { after_ms: 6000 } }],
  ]);
});

test('trouble at the commit: nobody is told of what is lost', async (t) => {
  const rig = await working(actorRig(t));
  rig.databases.fail({ statement: 'commit', nth: 2, code: SqliteCode.IoError, when: 'before' });
  for (let index = 2; index <= 10; index++) record(rig, index, begin(`a@${index}`));
  const said = await rig.heard();
  assert.deepEqual(
    said.filter(([what]) => ['mark', 'recorded', 'runs'].includes(what)),
    [],
  );
  assert.equal(said.filter(([what]) => what === 'store-state').length, 1);
  await rig.clock.advance(1000);
  await rig.heard();
  for (let index = 2; index <= 10; index++) record(rig, index, begin(`a@${index}`));
  const last = (await rig.heard()).filter(([what]) => what === 'recorded');
  assert.deepEqual(last, [['recorded', { seq: 10 }]]);
  assert.equal(dump(rig.file).runs?.length, 10);
});

test('a question whose failure took with it what was not committed yet: it is sent again', async (t) => {
  const rig = await working(actorRig(t));
  record(rig, 2, end('a@1'));
  rig.databases.fail({ statement: 'list', nth: 1, code: SqliteCode.IoError, when: 'rolled-back' });
  const failure = { code: 'store-unavailable', message: /^the disk reports an error/ };
  await assert.rejects(rig.store.ask('list', ALL), failure);
  assert.deepEqual((await rig.heard()).map(([what]) => what).toSorted(), [
    'log',
    'mark opened',
    'store-state',
  ]);
  await rig.clock.advance(1000);
  await rig.heard();
  record(rig, 2, end('a@1'));
  assert.deepEqual(await rig.heard(), [
    ['mark', 2],
    ['recorded', { seq: 2 }],
    ['runs', 1],
  ]);
});

test('questions in trouble: answered where it can be read, refused where not, and never the end', async (t) => {
  const rig = await troubled(actorRig(t));
  const { store } = rig;
  const offered = { task: 'a', items: [{ mark: '00000000000000ff', input: '{}' }] };
  assert.equal((await store.ask('list', ALL))[0]?.state, 'running');
  assert.equal((await store.ask('show', { run: 'a@1' }))?.run, 'a@1');
  assert.equal((await store.ask('offer', offered)).accepted, 1);
  assert.deepEqual(await store.ask('audit-list', { limit: 1 }), []);
  const mounted = { atMs: 1, schedules: [{ task: 'a', schedule: 'every 5s' }] };
  await assert.rejects(store.ask('mount', mounted), { code: 'store-unavailable', message: REASON });
  rig.databases.broken = { code: SqliteCode.IoError, what: 'all' };
  record(rig, 2, end('a@1'));
  store.tryTell('audit', { atMs: 1, actor: 'ann (1)', action: 'stop', target: null, fields: {} });
  const questions = [
    store.ask('list', ALL),
    store.ask('show', { run: 'a@1' }),
    store.ask('offer', offered),
    store.ask('usage', null),
    store.ask('unfinished', { after: 0 }),
    store.ask('letters', { after: 0 }),
    store.ask('mount', mounted),
    store.ask('audit-list', { limit: 1 }),
    store.ask('backup', { file: join(rig.file, '..', 'copy.db') }),
  ];
  for (const question of questions)
    await assert.rejects(question, { code: 'store-unavailable', message: /disk/ });
  await rig.clock.advance(30_000);
  assert.deepEqual(rig.escalated, []);
  rig.databases.broken = null;
  await rig.clock.advance(10_000);
  assert.equal(
    (await rig.heard()).some(([what]) => what === 'mark closed'),
    true,
  );
});

test('an audit entry that cannot be written is trouble too', async (t) => {
  const rig = await working(actorRig(t));
  rig.databases.broken = FULL;
  rig.store.tryTell('audit', { atMs: 1, actor: 'ann (1)', action: 'stop', target: null, fields: {} });
  assert.deepEqual(sorted(untimed(await rig.heard())), sorted(BEGINNING));
});

test('a commit that failed and is there all the same is acknowledged when it is sent again', async (t) => {
  const rig = await working(actorRig(t));
  rig.databases.fail({ statement: 'commit', nth: 2, code: SqliteCode.IoError, when: 'after' });
  record(rig, 2, end('a@1'), begin('a@2'));
  await rig.heard();
  await rig.clock.advance(1000);
  assert.deepEqual((await rig.heard()).slice(0, 2), [
    ['mark', 3],
    ['mark closed', null],
  ]);
  record(rig, 2, end('a@1'), begin('a@2'));
  assert.deepEqual(await rig.heard(), [
    ['mark', 3],
    ['recorded', { seq: 3 }],
  ]);
  assert.equal(dump(rig.file).runs?.length, 2);
});

test('stop in trouble: the journal ends where it was kept, and the next start looks through it', async (t) => {
  const rig = await troubled(actorRig(t));
  await rig.close();
  assert.equal(rig.clock.timers, 0);
  rig.databases.broken = null;
  const next = new SqliteStore({ file: rig.file, durability: 'process', retention: ROOMY, nowMs: () => 0 });
  t.after(() => next.close());
  assert.equal(next.open('boot-2', 0).crashed, true);
  assert.equal(next.show('a@1')?.state, 'running');
});

function sorted<T>(list: readonly T[]): T[] {
  return list.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
