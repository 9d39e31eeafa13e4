import assert from 'node:assert/strict';
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { lockStateDir } from '../../src/main/state-dir.ts';
import { tempDir } from '../support/temp-dir.ts';
import type { StarterAnswer, StarterOrder } from './fixtures/lock-starter.ts';

const STARTER = join(import.meta.dirname, 'fixtures', 'lock-starter.ts');
/** What a daemon left that was killed before the last start of the machine. */
const STALE = JSON.stringify({ pid: 1, startTicks: '0', bootId: 'gone', token: 'gone' });

async function answerOf(child: ChildProcess): Promise<StarterAnswer> {
  const [answer] = await once(child, 'message');
  return answer as StarterAnswer;
}

test('the lock is whole, private, held against a second one of the same process, and leaves nothing', (t) => {
  const dir = join(tempDir(t), 'state');
  const lock = lockStateDir(dir);
  const file = join(dir, 'lock');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal((JSON.parse(readFileSync(file, 'utf8')) as { pid: number }).pid, process.pid);
  assert.throws(() => lockStateDir(dir), { code: 'state-dir-held', message: /another app of this program/ });
  lock.release();
  lock.release();
  assert.deepEqual(readdirSync(dir), []);
  const again = lockStateDir(dir);
  lock.release();
  assert.deepEqual(readdirSync(dir), ['lock'], 'a lock is let go by its holder only');
  again.release();
});

test('a lock without a living holder, an empty one too, is taken over', (t) => {
  const dir = tempDir(t);
  for (const text of [STALE, '', '{"pid":']) {
    writeFileSync(join(dir, 'lock'), text);
    lockStateDir(dir).release();
    assert.deepEqual(readdirSync(dir), []);
  }
});

test('a lock that cannot be read counts as held, wherever it stands, and stays', (t) => {
  // As that of another user's daemon; a loop of links cannot be read by root either.
  for (const [name, message] of [
    ['lock', /cannot be read: .* delete .*\/lock\*, or give/],
    ['lock.aside-1', /cannot be read/],
  ] as const) {
    const dir = tempDir(t);
    symlinkSync(name, join(dir, name));
    assert.throws(() => lockStateDir(dir), { code: 'state-dir-held', message });
    assert.deepEqual(readdirSync(dir), [name]);
  }
});

test('without the folder in which the kernel tells of processes there is no lock, and it is said what to do', (t) => {
  const dir = tempDir(t);
  assert.throws(() => lockStateDir(dir, join(dir, 'proc')), {
    code: 'config-invalid',
    message: /expected .*\/proc to tell .*; mount it$/,
  });
  assert.deepEqual(readdirSync(dir), []);
});

test('a lock that a starter has set aside in between counts, whoever comes', (t) => {
  const dir = tempDir(t);
  const lock = lockStateDir(dir);
  const text = readFileSync(join(dir, 'lock'), 'utf8');
  lock.release();
  writeFileSync(join(dir, 'lock.aside-1'), text);
  assert.throws(() => lockStateDir(dir), { code: 'state-dir-held' });
  assert.deepEqual(readdirSync(dir), ['lock.aside-1']);
  writeFileSync(join(dir, 'lock.aside-1'), STALE);
  lockStateDir(dir).release();
  assert.deepEqual(readdirSync(dir), []);
});

test('of processes that start at one instant on a stale lock at most one gets it', async (t) => {
  const root = tempDir(t);
  const children = Array.from({ length: 4 }, () => fork(STARTER));
  t.after(async () => {
    for (const child of children) {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    }
  });
  await Promise.all(children.map(answerOf));
  let taken = 0;
  const rounds = 60;
  for (let round = 0; round < rounds; round++) {
    const dir = join(root, `${round}`);
    mkdirSync(dir);
    if (round % 3 !== 0) writeFileSync(join(dir, 'lock'), STALE);
    const order: StarterOrder = { dir, atMs: Date.now() + 2 };
    const answers = children.map(answerOf);
    for (const child of children) child.send(order);
    const settled = await Promise.all(answers);
    const got = children.filter((_, index) => settled[index] === 'got');
    for (const answer of settled) if (answer !== 'got') assert.deepEqual(answer, { code: 'state-dir-held' });
    assert.ok(got.length <= 1, `${got.length} starters hold ${dir}`);
    taken += got.length;
    for (const child of got) {
      const released = answerOf(child);
      child.send('release' satisfies StarterOrder);
      await released;
    }
    assert.deepEqual(readdirSync(dir), []);
  }
  assert.ok(taken > rounds / 2, `${taken} of ${rounds}`);
});

test('a holder that was killed and whose end nobody has asked for yet holds nothing', async (t) => {
  const dir = tempDir(t);
  // The shell becomes another program that asks for no child's end; until then it might.
  const child = 'until grep -q sleep /proc/\\$PPID/comm; do :; done; kill -9 \\$\\$';
  const parent = spawn('sh', ['-c', `sh -c "${child}" & echo $!; exec sleep 60`], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.after(() => parent.kill('SIGKILL'));
  const [chunk] = await once(parent.stdout, 'data');
  const pid = Number(String(chunk));
  const statOf = () => readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]!.split(' ');
  while (statOf()[0] !== 'Z') await new Promise(setImmediate);
  const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  const holder = { pid, startTicks: statOf()[19], bootId, token: 'killed' };
  writeFileSync(join(dir, 'lock'), JSON.stringify(holder));
  lockStateDir(dir).release();
});
