import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ColibriError } from '../../src/actors/kernel/index.ts';
import { controlRig, http } from './fixtures.ts';

test('a backup is asked of the store, without a deadline, and its size is answered', async (t) => {
  const deadlines: unknown[] = [];
  const { socketPath, asked } = await controlRig(t, {
    store: {
      backup: (_body, timeoutMs) => {
        deadlines.push(timeoutMs);
        return { bytes: 4096 };
      },
    },
  });
  const { status, document } = await http(socketPath, 'POST', '/backup', '{"file":"/var/b ü.db"}');
  assert.deepEqual([status, document], [200, { file: '/var/b ü.db', bytes: 4096 }]);
  assert.deepEqual(asked, [{ actor: 'store', kind: 'backup', body: { file: '/var/b ü.db' } }]);
  assert.deepEqual(deadlines, [null]);
});

test('what the store refuses keeps its code: 409', async (t) => {
  let code: 'file-failed' | 'store-failed' = 'file-failed';
  const { socketPath } = await controlRig(t, {
    store: {
      backup: () => {
        throw new ColibriError(code, 'why');
      },
    },
  });
  for (code of ['file-failed', 'store-failed'] as const) {
    const { status, document } = await http(socketPath, 'POST', '/backup', '{"file":"/b.db"}');
    assert.deepEqual([status, document], [409, { error: { code, message: 'why' } }]);
  }
});

test('only an absolute path of a possible length is passed on', async (t) => {
  const { socketPath, asked } = await controlRig(t, { store: { backup: () => ({ bytes: 1 }) } });
  for (const file of ['b.db', '', './b.db', 7, null, '/a\0b', `/${'x'.repeat(4095)}`]) {
    const { status } = await http(socketPath, 'POST', '/backup', JSON.stringify({ file }));
    assert.equal(status, 400, String(file));
  }
  for (const body of ['{}', '', '{"file":"/b","x":1}']) {
    assert.equal((await http(socketPath, 'POST', '/backup', body)).status, 400, body);
  }
  assert.deepEqual(asked, []);
  assert.equal((await http(socketPath, 'GET', '/backup')).status, 405);
});
