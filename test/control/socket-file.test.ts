import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { withSocketAddress } from '../../src/actors/control/index.ts';
import { tempDir } from '../support/temp-dir.ts';
import { control, controlRig, http } from './fixtures.ts';

test('the socket is 0600 from its first moment, and gone after the close', async (t) => {
  const dir = tempDir(t);
  const rig = await controlRig(t, {}, join(dir, 'control.sock'));
  const stat = statSync(rig.socketPath);
  assert.ok(stat.isSocket());
  assert.equal(stat.mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(dir), ['control.sock']);
  await rig.open();
  await rig.close();
  assert.deepEqual(readdirSync(dir), []);
});

test('the socket of a dead daemon is replaced', async (t) => {
  const path = join(tempDir(t), 'control.sock');
  const script = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
  spawnSync(process.execPath, ['-e', script]);
  assert.ok(lstatSync(path).isSocket());
  const rig = await controlRig(t, {}, path);
  assert.equal((await http(rig.socketPath, 'GET', '/')).status, 404);
});

test('the socket of a living daemon is left alone', async (t) => {
  const first = await controlRig(t, {});
  const second = control({}, first.socketPath);
  await assert.rejects(second.open(), { code: 'state-dir-held' });
  assert.equal((await http(first.socketPath, 'GET', '/')).status, 404);
  await second.close();
  assert.ok(lstatSync(first.socketPath).isSocket());
});

test('a file that is no socket is never taken away', async (t) => {
  const path = join(tempDir(t), 'control.sock');
  writeFileSync(path, 'mine');
  await assert.rejects(control({}, path).open(), {
    code: 'listen-failed',
    message: /expected a socket or nothing/,
  });
  assert.equal(lstatSync(path).size, 4);
});

test('a folder that is not there is told with the path', async (t) => {
  const path = join(tempDir(t), 'none', 'control.sock');
  await assert.rejects(control({}, path).open(), {
    code: 'listen-failed',
    message: /none\/control\.sock.*ENOENT/,
  });
});

test('a path that is longer than the address of a socket works for both sides', async (t) => {
  const dir = join(tempDir(t), 'd'.repeat(120));
  mkdirSync(dir);
  const path = join(dir, 'control.sock');
  const rig = await controlRig(t, {}, path);
  const answer = await withSocketAddress(path, (address) => http(address, 'GET', '/'));
  assert.equal(answer.status, 404);
  const second = control({}, path);
  await assert.rejects(second.open(), { code: 'state-dir-held' });
  await rig.close();
  assert.deepEqual(readdirSync(dir), []);
});
