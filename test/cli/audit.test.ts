import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuditEntry } from '../../src/actors/records.ts';
import { currentUser, userText } from '../../src/main/cli/user.ts';
import { type ControlRig, controlRig } from '../control/fixtures.ts';
import type { HasAfter } from '../support/temp-dir.ts';
import { type CliRig, cliRig, NOW } from './fixtures.ts';

const TRAIL: readonly AuditEntry[] = [
  {
    atMs: NOW - 120_000,
    actor: 'alice as colibri (999)',
    action: 'dead replay',
    target: null,
    fields: {
      since: '2026-01-01T10:00:00.000Z',
      answer: 'accepted',
      replayed: 2,
      refused: 0,
      unknown: [],
      made: ['a@1~1', 'a@2~1'],
    },
  },
  {
    atMs: NOW - 7_200_000,
    actor: 'bob (1001)',
    action: 'trigger',
    target: 'hash',
    fields: { task: 'hash', force: false, answer: 'refused', code: 'queue-full' },
  },
  { atMs: NOW - 86_400_000, actor: 'daemon', action: 'start', target: null, fields: {} },
];

async function setup(t: HasAfter, trail = TRAIL): Promise<{ cli: CliRig; daemon: ControlRig }> {
  const daemon = await controlRig(t, {
    runs: {
      trigger: () => ({ run: 'hash@1', ended: null }),
      reload: () => ({ outcome: 'unchanged', version: null, tasks: 1 }),
    },
    store: { 'audit-list': () => trail },
  });
  return { cli: cliRig(daemon.socketPath), daemon };
}

test('in a pipe: a command a line, exact times, the answer with its code, details without what is said already', async (t) => {
  const { cli, daemon } = await setup(t);
  const { code, out } = await cli.run('audit', '-n', '3');
  assert.equal(code, 0);
  assert.deepEqual(out.split('\n'), [
    '2026-01-01T11:58:00.000Z\talice as colibri (999)\tdead replay\taccepted\t-\tsince=2026-01-01T10:00:00.000Z replayed=2 refused=0 made=["a@1~1","a@2~1"]',
    '2026-01-01T10:00:00.000Z\tbob (1001)\ttrigger\trefused: queue-full\thash\t-',
    '2025-12-31T12:00:00.000Z\tdaemon\tstart\t-\t-\t-',
    '',
  ]);
  assert.deepEqual(daemon.asked.at(-1), { actor: 'store', kind: 'audit-list', body: { limit: 3 } });
});

test('on a terminal: cut to its width, relative times; nothing so far is said', async (t) => {
  const { cli } = await setup(t);
  cli.isTTY = true;
  cli.env = { NO_COLOR: '1' };
  cli.columns = 70;
  const { out } = await cli.run('audit');
  const lines = out.split('\n');
  assert.match(lines[0]!, /^WHEN +USER +ACTION +ANSWER +TARGET/);
  assert.match(lines[1]!, /^2m ago +alice as .*dead replay +accepted/);
  for (const text of lines) assert.ok(text.length <= 70, text);
  const empty = cliRig((await controlRig(t, { store: { 'audit-list': () => [] } })).socketPath);
  assert.equal((await empty.run('audit')).out, '');
  empty.isTTY = true;
  assert.equal((await empty.run('audit')).out, 'No commands so far.\n');
});

test('as JSON it is the document of the socket', async (t) => {
  const { cli } = await setup(t);
  const { audit } = JSON.parse((await cli.run('audit', '--json')).out);
  assert.deepEqual(audit[1], {
    at: '2026-01-01T10:00:00.000Z',
    user: 'bob (1001)',
    action: 'trigger',
    target: 'hash',
    answer: 'refused',
    code: 'queue-full',
    details: { task: 'hash', force: false },
  });
});

test('every command says who gives it', async (t) => {
  const { cli, daemon } = await setup(t);
  cli.env = { SUDO_USER: 'alice' };
  await cli.run('trigger', 'hash');
  await cli.run('reload');
  const expected = currentUser({ SUDO_USER: 'alice' });
  assert.match(expected, /^(?:alice as )?\S+ \(\d+\)$/);
  assert.deepEqual(
    daemon.trail.map(({ actor }) => actor),
    [expected, expected],
  );
});

test('a user is named by name and uid, and by who called sudo; always printable and short', () => {
  assert.equal(userText({ name: 'alice', uid: 1000, sudoUser: undefined }), 'alice (1000)');
  assert.equal(userText({ name: 'colibri', uid: 999, sudoUser: 'alice' }), 'alice as colibri (999)');
  assert.equal(userText({ name: 'root', uid: 0, sudoUser: 'root' }), 'root (0)');
  assert.equal(userText({ name: null, uid: 4_294_967_294, sudoUser: '' }), '? (4294967294)');
  assert.equal(userText({ name: 'jörg\n\u202e', uid: 5, sudoUser: undefined }), 'j?rg?? (5)');
  const longest = userText({ name: 'x'.repeat(300), uid: 4_294_967_294, sudoUser: 'y'.repeat(300) });
  assert.ok(longest.length <= 100 && longest.endsWith('(4294967294)'), longest);
});
