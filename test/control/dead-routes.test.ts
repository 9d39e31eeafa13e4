import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DeadLetterChoice, DeadLetterFilter } from '../../src/actors/protocol.ts';
import type { DeadLetterView } from '../../src/actors/views/run-view.ts';
import type { HasAfter } from '../support/temp-dir.ts';
import { type ControlRig, controlRig, http } from './fixtures.ts';

const NOW = Date.UTC(2026, 0, 1);
const HOUR = 3_600_000;

/** An owner of dead letters, without the rest of it. */
async function setup(t: HasAfter, letters: readonly DeadLetterView[] = []): Promise<ControlRig> {
  const kept = new Map(letters.map((letter) => [letter.run, letter]));
  const chosen = (choice: DeadLetterChoice) =>
    [...kept.values()].filter(
      ({ run, task, diedAtMs }) =>
        (choice.runs === null || choice.runs.includes(run)) &&
        (choice.task === null || task === choice.task) &&
        (choice.sinceMs === null || diedAtMs >= choice.sinceMs) &&
        (choice.untilMs === null || diedAtMs < choice.untilMs),
    );
  const take = (choice: DeadLetterChoice) => {
    const taken = chosen(choice);
    for (const { run } of taken) kept.delete(run);
    return taken.map(({ run }) => run);
  };
  return controlRig(t, {
    runs: {
      'dead-list': (filter: DeadLetterFilter) => chosen({ ...filter, runs: null }),
      'dead-replay': (choice: DeadLetterChoice) => ({
        runs: take(choice).map((run) => `${run}~1`),
        refused: 0,
      }),
      'dead-purge': (choice: DeadLetterChoice) => ({ purged: take(choice).length }),
    },
  });
}

const post = ({ socketPath }: ControlRig, path: string, body: unknown) =>
  http(socketPath, 'POST', path, JSON.stringify(body));

test('letters are chosen by time: since is within, until is not; spans are reckoned from now', async (t) => {
  const rig = await setup(t);
  const ask = async (query: string) => {
    assert.equal((await http(rig.socketPath, 'GET', `/dead?${query}`)).status, 200, query);
    return rig.asked.at(-1)?.body;
  };
  const all = { task: null, sinceMs: null, untilMs: null, limit: 50 };
  assert.deepEqual(await ask(''), all);
  assert.deepEqual(await ask('since=2h'), { ...all, sinceMs: NOW - 2 * HOUR });
  assert.deepEqual(await ask('until=2025-12-31T12:00:00%2B01:00&limit=3'), {
    ...all,
    untilMs: NOW - 13 * HOUR,
    limit: 3,
  });
  await post(rig, '/dead/replay', { since: '1d', until: '2025-12-31T23:30:00Z' });
  const range = { sinceMs: NOW - 24 * HOUR, untilMs: NOW - HOUR / 2 };
  assert.deepEqual(rig.asked.at(-1)?.body, { runs: null, task: null, ...range });
  await rig.clock.advance(HOUR);
  await post(rig, '/dead/purge', { until: '1h' });
  assert.deepEqual(rig.asked.at(-1)?.body, { runs: null, task: null, sinceMs: null, untilMs: NOW });
});

test('what is no time, or no range, or chooses in two ways, is refused and nothing is touched', async (t) => {
  const rig = await setup(t);
  for (const query of ['since=yesterday', 'until=', 'since=1h&until=2h', 'since=1h&until=1h', 'before=1h']) {
    assert.equal((await http(rig.socketPath, 'GET', `/dead?${query}`)).status, 400, query);
  }
  const bodies = [
    { since: 5 },
    { since: '2026-02-30T00:00:00Z' },
    { until: null },
    { since: '1h', all: true },
    { since: '1h', runs: ['r'] },
    { task: 'a', all: true },
    { task: 1, since: '1h' },
    {},
  ];
  for (const body of bodies) {
    for (const path of ['/dead/replay', '/dead/purge']) {
      const { status, document } = await post(rig, path, body);
      assert.equal(status, 400, JSON.stringify(body));
      assert.match(JSON.stringify(document), /expected/);
    }
  }
  assert.deepEqual(rig.asked, []);
});

test('letters of a daemon before are listed, replayed and purged as those of this one', async (t) => {
  // As recovery hands them over: older than the start of this daemon, one of a task that has left the config.
  const letter = { attempts: 6, input: '{"n":1}', error: null } as const;
  const rig = await setup(t, [
    { ...letter, run: 'gone@1', task: 'gone', diedAtMs: NOW - 48 * HOUR },
    { ...letter, run: 'hash@1', task: 'hash', diedAtMs: NOW - 2 * HOUR },
    { ...letter, run: 'hash@2', task: 'hash', diedAtMs: NOW - 1 },
  ]);
  const listed = async () => {
    const { document } = await http(rig.socketPath, 'GET', '/dead');
    return (document as { dead_letters: { run: string }[] }).dead_letters.map(({ run }) => run);
  };
  assert.deepEqual(await listed(), ['gone@1', 'hash@1', 'hash@2']);
  assert.deepEqual((await post(rig, '/dead/replay', { runs: ['hash@1', 'none'] })).document, {
    runs: ['hash@1~1'],
    refused: 0,
    unknown: ['none'],
  });
  assert.deepEqual((await post(rig, '/dead/replay', { task: 'hash', since: '1h' })).document, {
    runs: ['hash@2~1'],
    refused: 0,
    unknown: [],
  });
  assert.deepEqual((await post(rig, '/dead/purge', { task: 'gone', until: '1d' })).document, {
    purged: 1,
    unknown: [],
  });
  assert.deepEqual(await listed(), []);
});
