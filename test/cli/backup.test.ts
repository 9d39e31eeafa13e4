import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ColibriError } from '../../src/actors/kernel/index.ts';
import { controlRig, type FakeActor } from '../control/fixtures.ts';
import type { HasAfter } from '../support/temp-dir.ts';
import { cliRig } from './fixtures.ts';

async function setup(t: HasAfter, backup: FakeActor[string]) {
  const daemon = await controlRig(t, { store: { backup } });
  return { cli: cliRig(daemon.socketPath), daemon };
}

test('the file is made absolute here, and the size of the copy is told', async (t) => {
  let bytes = 3_670_016;
  const { cli, daemon } = await setup(t, () => ({ bytes }));
  const plain = await cli.run('backup', 'copies/a\tb.db');
  assert.deepEqual(plain, { code: 0, out: 'copied to /work dir/copies/a\\tb.db, 3.5 MB\n', err: '' });
  bytes = 24_576;
  assert.match((await cli.run('backup', '/var/x/../b.db')).out, /^copied to \/var\/b\.db, 24 kB$/m);
  bytes = 812;
  assert.match((await cli.run('backup', '/b.db')).out, /, 812 bytes$/m);
  assert.deepEqual(
    daemon.asked.map(({ body }) => body),
    [{ file: '/work dir/copies/a\tb.db' }, { file: '/var/b.db' }, { file: '/b.db' }],
  );
  const json = await cli.run('backup', '/b.db', '--json');
  assert.deepEqual(JSON.parse(json.out), { file: '/b.db', bytes });
});

test('what cannot be copied is told as the daemon says it, 1', async (t) => {
  const memory =
    'expected a journal to copy, got store.kind memory, which keeps nothing on disk; set store.kind to sqlite';
  const cases = [
    ['file-failed', '/b.db: expected no file there, got one; choose another name'],
    ['store-failed', memory],
  ] as const;
  for (const [code, message] of cases) {
    const { cli } = await setup(t, () => {
      throw new ColibriError(code, message);
    });
    assert.deepEqual(await cli.run('backup', '/b.db'), { code: 1, out: '', err: `colibri: ${message}\n` });
    const json = await cli.run('backup', '/b.db', '--json');
    assert.deepEqual([json.code, JSON.parse(json.out)], [1, { error: { code, message } }]);
  }
});
