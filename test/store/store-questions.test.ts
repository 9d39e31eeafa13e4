import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { FoundItem, OfferReply } from '../../src/actors/protocol.ts';
import type { AuditEntry } from '../../src/actors/records.ts';
import { storeChecks } from '../../src/actors/store/message-checks.ts';
import { actorRig, nextTurn, opened, record } from './actor-rig.ts';
import { begin, end, markOf } from './feed.ts';
import { dump } from './sqlite-journal.ts';

const ALL = { task: null, state: null, limit: 100 } as const;
const UNAVAILABLE = { code: 'store-unavailable' } as const;

const item = (index: number): FoundItem => ({ mark: markOf(index), input: `{"n":${index}}` });

test('open: of a damaged journal the log says where it is', async (t) => {
  const rig = actorRig(t);
  writeFileSync(rig.file, 'x'.repeat(5000));
  const { setAside } = await rig.store.ask('open', { boot: 'boot-1', kept: 0 });
  const log = (await rig.heard()).find(([what]) => what === 'log')?.[1] as { level: string; fields: unknown };
  assert.deepEqual([log.level, log.fields], ['error', { file: setAside }]);
  assert.equal(dirname(setAside!), dirname(rig.file));
});

test('open: one that cannot be opened is said, and may be tried again', async (t) => {
  const rig = actorRig(t);
  rig.databases.broken = { code: 14, what: 'all' };
  await assert.rejects(rig.store.ask('open', { boot: 'boot-1', kept: 0 }), { code: 'store-failed' });
  rig.databases.broken = null;
  await opened(rig);
  assert.deepEqual(rig.escalated, []);
});

test('before it is opened nothing is taken and nothing answered', async (t) => {
  const rig = actorRig(t);
  record(rig, 1, [begin('a@1')]);
  rig.store.tryTell('audit', { atMs: 1, actor: 'ann (1)', action: 'stop', target: null, fields: {} });
  const { store } = rig;
  const questions = [
    store.ask('list', ALL),
    store.ask('show', { run: 'a@1' }),
    store.ask('offer', { task: 'a', items: [item(1)] }),
    store.ask('usage', null),
    store.ask('unfinished', { after: 0 }),
    store.ask('backup', { file: join(dirname(rig.file), 'copy.db') }),
  ];
  for (const question of questions) await assert.rejects(question, UNAVAILABLE);
  assert.deepEqual(await rig.heard(), []);
  await opened(rig);
  record(rig, 1, [begin('a@1')]);
  assert.deepEqual(await rig.heard(), [
    ['mark', 1],
    ['recorded', { seq: 1 }],
    ['runs', 1],
  ]);
  assert.deepEqual(await store.ask('audit-list', { limit: 5 }), []);
});

test('offer: what is marked is not passed on; the sum is answered', async (t) => {
  const rig = await opened(actorRig(t));
  const done = [1, 2].map((index) => end(`a@${index}`, { origin: 'each', mark: markOf(index) }));
  record(rig, 1, done);
  await rig.heard();
  rig.answer = ({ items }) => ({ accepted: items.length - 1, known: 1, rejected: 0, rest: [] });
  const reply = await rig.store.ask('offer', { task: 'a', items: [1, 2, 3, 4].map(item) });
  assert.deepEqual(reply, { accepted: 1, known: 3, rejected: 0, rest: [] });
  assert.deepEqual(await rig.heard(), [['offer', { task: 'a', items: [item(3), item(4)] }]]);
  const known = await rig.store.ask('offer', { task: 'a', items: [1, 2].map(item) });
  assert.deepEqual(known, { accepted: 0, known: 2, rejected: 0, rest: [] });
  assert.deepEqual(await rig.heard(), [], 'nobody is asked for what is known');
});

test('offer: while the runs have no room, records go on; what they refuse is passed back', async (t) => {
  const rig = await opened(actorRig(t));
  const room = Promise.withResolvers<OfferReply>();
  rig.answer = () => room.promise;
  const offered = rig.store.ask('offer', { task: 'a', items: [item(1)] }, { timeoutMs: null });
  await rig.heard();
  for (let index = 1; index <= 3; index++) {
    record(rig, index, [begin(`a@${index}`)]);
    await nextTurn();
  }
  await rig.clock.advance(600_000);
  assert.equal(rig.mark.passed(3), true);
  room.resolve({ accepted: 0, known: 0, rejected: 0, rest: [markOf(1)] });
  assert.deepEqual(await offered, { accepted: 0, known: 0, rejected: 0, rest: [markOf(1)] });
});

test('audit entries and copies pass through', async (t) => {
  const rig = await opened(actorRig(t));
  const entry: AuditEntry = {
    atMs: 1,
    actor: 'ann (1)',
    action: 'reload',
    target: null,
    fields: { outcome: 'x' },
  };
  rig.store.tryTell('audit', entry);
  await rig.heard();
  assert.deepEqual(await rig.store.ask('audit-list', { limit: 5 }), [entry]);
  assert.equal(dump(rig.file).audit?.length, 1, 'it is committed');
  const copy = join(dirname(rig.file), 'copy.db');
  writeFileSync(copy, '');
  await assert.rejects(rig.store.ask('backup', { file: copy }), { code: 'file-failed' });
});

test('bodies from other threads are looked at', () => {
  const events = [begin('a@1')];
  const good = { first: 1, events, dropped: ['d@1'] };
  assert.equal(storeChecks.record?.(good), true);
  const bad = [null, [], {}, { ...good, first: 1.5 }, { ...good, first: '1' }, { ...good, events: {} }];
  const worse = [
    { ...good, events: [{ ...events[0], atMs: null }] },
    { ...good, events: [null] },
  ];
  for (const body of [...bad, ...worse, { ...good, dropped: [1] }, { first: 1, events }]) {
    assert.equal(storeChecks.record?.(body), false, JSON.stringify(body));
  }
  assert.equal(storeChecks.open?.({ boot: 'b', kept: 0 }), true);
  assert.equal(storeChecks.open?.({ boot: 'b' }), false);
  assert.equal(storeChecks.audit?.({ atMs: 1, actor: 'a', action: 'b', target: null, fields: {} }), true);
  assert.equal(storeChecks.audit?.({ atMs: 1, actor: 'a', action: 'b', target: null, fields: null }), false);
  assert.equal(storeChecks.backup?.({ file: 7 }), false);
});
