import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { ColibriError } from '../../src/actors/kernel/index.ts';
import type { ReloadReply } from '../../src/actors/protocol.ts';
import { ConfigInvalid, stateDirOf } from '../../src/main/config/index.ts';
import { type ControlRig, controlRig } from '../control/fixtures.ts';
import { type HasAfter, tempDir } from '../support/temp-dir.ts';
import { type CliRig, cliRig } from './fixtures.ts';

async function setup(t: HasAfter, reply: () => ReloadReply): Promise<{ cli: CliRig; daemon: ControlRig }> {
  const daemon = await controlRig(t, { runs: { reload: reply } });
  return { cli: cliRig(daemon.socketPath), daemon };
}

const PROBLEMS = [
  { file: 'c.yaml', line: 3, column: 1, message: 'unknown key "x"' },
  { file: 'c.yaml', line: 9, column: 5, message: 'expected a name, got nothing' },
];
const broken = async () => {
  throw new ConfigInvalid(PROBLEMS);
};

test('nothing changed: said so, 0', async (t) => {
  const { cli } = await setup(t, () => ({ outcome: 'unchanged', version: 'v1', tasks: 200 }));
  assert.deepEqual(await cli.run('reload'), { code: 0, out: 'nothing has changed, 200 tasks\n', err: '' });
  const json = await cli.run('reload', '--json');
  assert.deepEqual(JSON.parse(json.out), { changed: false, config_version: 'v1', tasks: 200 });
});

test('bounds that were taken up are named, 0', async (t) => {
  const taken = { version: 'v2', tasks: 3, changes: ['groups.api.rate changed', 'task a changed'] };
  const { cli } = await setup(t, () => ({ outcome: 'taken-up', ...taken, more: 4 }));
  const out = 'taken up: groups.api.rate changed, task a changed and 4 more\n';
  assert.deepEqual(await cli.run('reload'), { code: 0, out, err: '' });
  const json = JSON.parse((await cli.run('reload', '--json')).out);
  assert.deepEqual(json, { changed: true, config_version: 'v2', tasks: 3, changes: taken.changes, more: 4 });
});

test('a wrong config is refused by the daemon, although it cannot be loaded here: every problem, 78', async (t) => {
  const many = Array.from({ length: 300 }, (_, index) => ({ ...PROBLEMS[0]!, line: index + 1 }));
  const { cli, daemon } = await setup(t, () => ({ outcome: 'invalid', problems: many }));
  cli.deps = { loadConfig: broken };
  const { code, out, err } = await cli.run('reload');
  assert.deepEqual([code, out], [78, '']);
  assert.equal(err.split('\n').filter((line) => /^c\.yaml:\d+:1: unknown key "x"$/.test(line)).length, 300);
  assert.match(err, /expected a config without problems, got 300; nothing has changed\n$/);
  assert.deepEqual(
    daemon.asked.map(({ kind }) => kind),
    ['reload'],
  );
  const json = JSON.parse((await cli.run('reload', '--json')).out);
  assert.deepEqual([json.ok, json.problems.length, json.error.code], [false, 300, 'config-invalid']);
});

test('a wrong config and no daemon: the problems as they are seen from here, 78', async (t) => {
  const cli = cliRig(join(tempDir(t), 'control.sock'));
  cli.deps = { loadConfig: broken };
  const { code, err } = await cli.run('reload');
  assert.equal(code, 78);
  assert.equal(err, 'c.yaml:3:1: unknown key "x"\nc.yaml:9:5: expected a name, got nothing\n');
});

test('a config that differs: named, with the remedy, 1', async (t) => {
  const { cli } = await setup(t, () => ({ outcome: 'differs', changes: ['task a added'], more: 2 }));
  const { code, out, err } = await cli.run('reload');
  assert.deepEqual([code, out], [1, '']);
  assert.match(err, /another one: task a added and 2 more; nothing has changed, restart the daemon/);
  const json = JSON.parse((await cli.run('reload', '--json')).out);
  assert.equal(json.error.code, 'restart-needed');
});

test('no daemon: 69; a daemon that is ending or was made in code says so', async (t) => {
  assert.equal((await cliRig(join(tempDir(t), 'control.sock')).run('reload')).code, 69);
  const { cli } = await setup(t, () => {
    throw new ColibriError('usage', 'expected a daemon with a config file, got one that was made in code');
  });
  const { code, err } = await cli.run('reload');
  assert.equal(code, 2);
  assert.match(err, /made in code/);
});

test('the state directory of a config that cannot be loaded: its line, the environment, or the default', (t) => {
  const dir = tempDir(t);
  const file = join(dir, 'c.yaml');
  const found = (text: string, env: Record<string, string> = {}) => {
    writeFileSync(file, text);
    return relative(dir, stateDirOf(file, env));
  };
  assert.equal(found('bogus: [\nstate_dir: ./here # so\n'), 'here');
  assert.equal(found('state_dir: "a b/c"\ntasks: {'), join('a b', 'c'));
  assert.equal(found("state_dir: 'x#y'"), 'x#y');
  assert.equal(found('  state_dir: ./not-this\nx: 1'), 'state');
  assert.equal(found('state_dir: ./here', { COLIBRI_STATE_DIR: './env' }), 'env');
  rmSync(file);
  assert.equal(relative(dir, stateDirOf(file, {})), 'state');
});
