import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ColibriError } from '../../src/actors/kernel/index.ts';
import type { AuditEntry } from '../../src/actors/records.ts';
import type { HasAfter } from '../support/temp-dir.ts';
import { type ControlRig, controlRig, type FakeActor, http, runView } from './fixtures.ts';

const ALICE = 'alice (1000)';
const START_MS = Date.UTC(2026, 0, 1);

/** Every command goes well. */
const willing: FakeActor = {
  trigger: () => ({ run: 'hash@1', ended: null }),
  cancel: () => ({ state: 'cancelled' }),
  'dead-replay': () => ({ runs: ['hash@1~1', 'hash@2~1'], refused: 1 }),
  'dead-purge': () => ({ purged: 2 }),
  reload: () => ({ outcome: 'unchanged', version: null, tasks: 1 }),
};

function setup(t: HasAfter, store: FakeActor = {}, runs = willing): Promise<ControlRig> {
  return controlRig(t, { runs, store: { backup: () => ({ bytes: 7 }), ...store } });
}

const post = ({ socketPath }: ControlRig, path: string, body?: unknown, user = ALICE) =>
  http(socketPath, 'POST', path, body === undefined ? '' : JSON.stringify(body), { 'X-Colibri-User': user });

test('every command that changes something is told to the store, with its user, its target and what came of it', async (t) => {
  const rig = await setup(t);
  await rig.clock.advance(5000);
  await post(rig, '/trigger', { task: 'hash', payload: { secret: 'no' }, force: true });
  await post(rig, '/runs/hash%401/cancel');
  await post(rig, '/dead/replay', { runs: ['hash@1'] });
  await post(rig, '/dead/purge', { task: 'hash', since: '1h' });
  await post(rig, '/reload');
  await post(rig, '/backup', { file: '/b.db' });
  await post(rig, '/stop');
  const by = { atMs: START_MS + 5000, actor: ALICE };
  const answer = 'accepted';
  const entries: AuditEntry[] = [
    {
      ...by,
      action: 'trigger',
      target: 'hash',
      fields: { task: 'hash', force: true, answer, run: 'hash@1' },
    },
    { ...by, action: 'cancel', target: 'hash@1', fields: { run: 'hash@1', answer } },
    {
      ...by,
      action: 'dead replay',
      target: 'hash@1',
      fields: {
        runs: ['hash@1'],
        answer,
        replayed: 2,
        refused: 1,
        unknown: [],
        made: ['hash@1~1', 'hash@2~1'],
      },
    },
    {
      ...by,
      action: 'dead purge',
      target: 'hash',
      fields: { task: 'hash', since: '2025-12-31T23:00:05.000Z', answer, purged: 2, unknown: [] },
    },
    { ...by, action: 'reload', target: null, fields: { answer } },
    { ...by, action: 'backup', target: '/b.db', fields: { file: '/b.db', answer, bytes: 7 } },
    { ...by, action: 'stop', target: null, fields: { answer } },
  ];
  assert.deepEqual(rig.trail, entries);
  assert.ok(!JSON.stringify(rig.logged).includes('secret'));
  assert.deepEqual(
    rig.logged.map(({ command, user }) => [command, user]),
    entries.filter(({ action }) => action !== 'reload').map(({ action }) => [action, ALICE]),
  );
});

test('questions leave nothing in the trail; what cannot be understood was no command', async (t) => {
  const rig = await setup(t, { 'audit-list': () => [] });
  await http(rig.socketPath, 'GET', '/audit');
  assert.equal((await post(rig, '/trigger', { tsak: 'hash' })).status, 400);
  assert.equal((await post(rig, '/backup', { file: 'relative.db' })).status, 400);
  assert.equal((await post(rig, '/nothing')).status, 404);
  assert.deepEqual(rig.trail, []);
});

test('a refused command is in the trail with its code, at the time it was asked for', async (t) => {
  const asked = Promise.withResolvers<void>();
  const refused = Promise.withResolvers<never>();
  const rig = await setup(
    t,
    {},
    {
      trigger: () => {
        asked.resolve();
        return refused.promise;
      },
    },
  );
  const answer = post(rig, '/trigger', { task: 'hash' });
  await asked.promise;
  await rig.clock.advance(60_000);
  refused.reject(new ColibriError('store-unavailable', 'the disk is full'));
  assert.equal((await answer).status, 503);
  const fields = { task: 'hash', force: false, answer: 'refused', code: 'store-unavailable' };
  assert.deepEqual(rig.trail, [{ atMs: START_MS, actor: ALICE, action: 'trigger', target: 'hash', fields }]);
});

test('the user is what the client says, printable and bounded; nothing said is unknown', async (t) => {
  const rig = await setup(t);
  await http(rig.socketPath, 'POST', '/stop');
  await post(rig, '/stop', undefined, 'x'.repeat(100));
  assert.deepEqual(
    rig.trail.map(({ actor }) => actor),
    ['unknown', 'x'.repeat(100)],
  );
  for (const user of ['x'.repeat(101), 'a\tb', 'ä (1)']) {
    const { status, document } = await post(rig, '/stop', undefined, user);
    assert.equal(status, 400, user);
    assert.match(
      JSON.stringify(document),
      /x-colibri-user: expected at most 100 characters of printable ASCII/,
    );
  }
  assert.equal(rig.stops, 2);
});

test('an entry is bounded, whatever the request holds', async (t) => {
  const rig = await setup(t, {}, { ...willing, 'dead-replay': () => ({ runs: [], refused: 0 }) });
  const runs = Array.from({ length: 500 }, (_, index) => `${index}-${'x'.repeat(1000)}`);
  assert.equal((await post(rig, '/dead/replay', { runs })).status, 200);
  await post(rig, '/trigger', { task: 'y'.repeat(100_000) });
  const [replay, trigger] = rig.trail;
  assert.equal((replay!.fields.runs as string[]).length, 21);
  assert.equal((replay!.fields.unknown as string[]).at(-1), '… and 480 more');
  assert.equal(trigger!.target!.length, 500);
  for (const entry of rig.trail) assert.ok(JSON.stringify(entry).length < 25_000);
});

test('a store that takes no entry refuses no command: the log says what is missing', async (t) => {
  const rig = await setup(t, {
    audit: () => {
      throw new ColibriError('mailbox-closed', 'gone');
    },
  });
  assert.equal((await post(rig, '/trigger', { task: 'hash' })).status, 200);
  assert.deepEqual(rig.logged.at(-1), {
    msg: 'command is missing in the audit trail',
    command: 'trigger',
    user: ALICE,
    error: { code: 'mailbox-closed', message: 'gone' },
  });
});

const entry = (fields: Partial<AuditEntry>): AuditEntry => {
  return { atMs: START_MS, actor: ALICE, action: 'trigger', target: 'hash', fields: {}, ...fields };
};

test('GET /audit: the entries of the store, with their answer apart; also what the daemon did by itself', async (t) => {
  const rig = await setup(t, {
    'audit-list': () => [
      entry({ fields: { task: 'hash', answer: 'refused', code: 'queue-full' } }),
      entry({ actor: 'daemon', action: 'start', target: null, fields: { pid: 1 } }),
    ],
  });
  assert.deepEqual((await http(rig.socketPath, 'GET', '/audit?limit=7')).document, {
    audit: [
      {
        at: '2026-01-01T00:00:00.000Z',
        user: ALICE,
        action: 'trigger',
        target: 'hash',
        answer: 'refused',
        code: 'queue-full',
        details: { task: 'hash' },
      },
      {
        at: '2026-01-01T00:00:00.000Z',
        user: 'daemon',
        action: 'start',
        target: null,
        answer: null,
        code: null,
        details: { pid: 1 },
      },
    ],
  });
  assert.deepEqual(rig.asked.at(-1)?.body, { limit: 7 });
  await http(rig.socketPath, 'GET', '/audit');
  assert.deepEqual(rig.asked.at(-1)?.body, { limit: 50 });
  for (const query of ['limit=0', 'limit=1001', 'user=alice']) {
    assert.equal((await http(rig.socketPath, 'GET', `/audit?${query}`)).status, 400, query);
  }
});

test('show tells what users have done with the run, oldest first, of the last 1000 entries', async (t) => {
  const accepted = { answer: 'accepted' };
  const trail = [
    entry({ action: 'dead replay', target: null, fields: { ...accepted, made: ['hash@1'] } }),
    entry({ action: 'dead purge', target: null, fields: { ...accepted, runs: ['other', 'hash@1'] } }),
    entry({ action: 'cancel', target: 'hash@1', fields: { answer: 'refused', code: 'no-such-run' } }),
    entry({ action: 'cancel', target: 'hash@1', fields: accepted }),
    entry({ fields: { ...accepted, run: 'hash@2' } }),
    entry({ fields: { ...accepted, run: 'hash@1' } }),
  ];
  const rig = await setup(t, { 'audit-list': () => trail }, { 'show-live': () => runView('hash@1') });
  const { document } = await http(rig.socketPath, 'GET', '/runs/hash%401?commands=true');
  const { commands } = document as { commands: { action: string; user: string }[] };
  assert.deepEqual(
    commands.map(({ action, user }) => [action, user]),
    ['trigger', 'cancel', 'dead purge', 'dead replay'].map((action) => [action, ALICE]),
  );
  assert.deepEqual(rig.asked.at(-1), { actor: 'store', kind: 'audit-list', body: { limit: 1000 } });
});

test('a run is shown also where the trail cannot be read', async (t) => {
  const rig = await setup(t, {}, { 'show-live': () => runView('hash@1') });
  const { status, document } = await http(rig.socketPath, 'GET', '/runs/hash%401?commands=true');
  assert.deepEqual([status, (document as { commands: unknown }).commands], [200, []]);
});

test('the trail is searched only where that is wanted', async (t) => {
  const rig = await setup(t, {}, { 'show-live': () => runView('hash@1') });
  const { document } = await http(rig.socketPath, 'GET', '/runs/hash%401');
  assert.ok(!('commands' in (document as object)));
  assert.deepEqual(
    rig.asked.map(({ kind }) => kind),
    ['show-live'],
  );
  for (const query of ['commands=no', 'comands=true', 'wait=1']) {
    assert.equal((await http(rig.socketPath, 'GET', `/runs/hash%401?${query}`)).status, 400, query);
  }
});
