import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import type { RecordBatch } from '../../src/actors/records.ts';
import { ResultFolder } from '../../src/actors/results/result-folder.ts';
import { ResultRoom } from '../../src/actors/results/result-room.ts';
import { MemoryStore } from '../../src/actors/store/index.ts';
import { tempDir } from '../support/temp-dir.ts';
import { actorRig, opened, record } from './actor-rig.ts';
import { begin, end } from './feed.ts';
import { dump, inside, ROOMY } from './sqlite-journal.ts';

const ALL = { task: null, state: null, limit: 100 } as const;

test('open: the mark is closed where the journal ends, and what was found is answered', async (t) => {
  const rig = actorRig(t);
  const found = await rig.store.ask('open', { boot: 'boot-1', kept: 7 });
  assert.deepEqual(found, {
    durable: true,
    crashed: false,
    setAside: null,
    unfinished: 0,
    letters: 0,
    delayed: 0,
  });
  assert.deepEqual(await rig.heard(), [
    ['mark', 7],
    ['mark closed', null],
  ]);
  assert.deepEqual([rig.mark.passed(7), rig.mark.passed(8)], [true, false]);
});

test('what comes in one turn is one commit; then the mark, the runs and telemetry, in this order', async (t) => {
  const rig = await opened(actorRig(t));
  const commits = () => rig.databases.calls.get('commit') ?? 0;
  for (let index = 1; index <= 20; index++)
    record(rig, 2 * index - 1, [begin(`a@${index}`), end(`a@${index}`)]);
  const told = Array.from({ length: 20 }, () => ['runs', 2]);
  assert.deepEqual(await rig.heard(), [['mark', 40], ['recorded', { seq: 40 }], ...told]);
  assert.equal(commits(), 1);
  assert.equal(dump(rig.file).runs?.length, 20);
  record(rig, 41, [begin('b@1')]);
  assert.deepEqual(await rig.heard(), [
    ['mark', 41],
    ['recorded', { seq: 41 }],
    ['runs', 1],
  ]);
  assert.equal(commits(), 2);
});

test('a commit is not put off beyond 2,048 transitions', async (t) => {
  const rig = await opened(actorRig(t));
  for (let batch = 0; batch < 9; batch++) {
    const events = Array.from({ length: 512 }, (_, index) => begin(`a@${512 * batch + index}`));
    record(rig, 512 * batch + 1, events);
  }
  const marks = (await rig.heard()).filter(([what]) => what === 'mark').map(([, position]) => position);
  assert.deepEqual(marks, [2048, 4096, 4608]);
});

test('what is applied is shown at once; what is not committed is not acknowledged', async (t) => {
  const rig = await opened(actorRig(t));
  record(rig, 1, [begin('a@1')]);
  const shown = rig.store.ask('show', { run: 'a@1' });
  assert.equal(rig.mark.passed(1), false);
  assert.equal((await shown)?.state, 'running');
  assert.deepEqual(await rig.store.ask('list', ALL), [await shown]);
});

test('a gap is passed over in silence; what is known is acknowledged again, and told to nobody else', async (t) => {
  const rig = await opened(actorRig(t));
  record(rig, 3, [begin('a@3')]);
  assert.deepEqual(await rig.heard(), []);
  record(rig, 1, [begin('a@1'), begin('a@2')]);
  await rig.heard();
  record(rig, 1, [begin('a@1'), begin('a@2')]);
  assert.deepEqual(await rig.heard(), [
    ['mark', 2],
    ['recorded', { seq: 2 }],
  ]);
  record(rig, 3, [begin('a@3')]);
  assert.deepEqual(await rig.heard(), [
    ['mark', 3],
    ['recorded', { seq: 3 }],
    ['runs', 1],
  ]);
});

test('letters alone are acknowledged too', async (t) => {
  const rig = await opened(actorRig(t));
  record(rig, 1, [], ['d@1']);
  assert.deepEqual(await rig.heard(), [
    ['mark', 0],
    ['recorded', { seq: 0 }],
    ['runs', 0],
  ]);
});

test('the store rests once when nothing has come for a second', async (t) => {
  const rig = await opened(actorRig(t));
  const { clock, watched } = rig;
  await clock.advance(60_000);
  assert.equal(watched.rests, 0, 'nothing was written');
  record(rig, 1, [begin('a@1')]);
  await rig.heard();
  await clock.advance(999);
  record(rig, 2, [end('a@1')]);
  await rig.heard();
  await clock.advance(999);
  assert.equal(watched.rests, 0);
  await clock.advance(1);
  await clock.advance(60_000);
  assert.equal(watched.rests, 1);
});

test('stop: what was taken is committed and acknowledged, and the journal closed', async (t) => {
  const rig = await opened(actorRig(t));
  record(rig, 1, [begin('a@1'), end('a@1')]);
  await rig.close();
  assert.deepEqual(await rig.heard(), [
    ['mark', 2],
    ['recorded', { seq: 2 }],
    ['runs', 2],
  ]);
  assert.deepEqual(
    inside(rig.file, (database) => ({ ...database.prepare('SELECT kept, clean FROM boot').get() })),
    {
      kept: 2,
      clean: 1,
    },
  );
  assert.equal(rig.clock.timers, 0);
});

test('stop before it was opened leaves no file', async (t) => {
  const rig = actorRig(t);
  await rig.close();
  assert.deepEqual([rig.escalated, await rig.heard()], [[], []]);
});

test('a fault that is no trouble of the disk ends the actor, and acknowledges nothing', async (t) => {
  const store = new MemoryStore(ROOMY, () => 0);
  const fault = new TypeError('a fault of the program');
  const append = store.append.bind(store);
  store.append = (batch: RecordBatch) => {
    if (batch.first === 3) throw fault;
    return append(batch);
  };
  const rig = await opened(actorRig(t, () => store));
  record(rig, 1, [begin('a@1'), begin('a@2')]);
  record(rig, 3, [begin('a@3')]);
  assert.deepEqual(await rig.heard(), []);
  assert.deepEqual(rig.escalated, [fault], 'a new life on this thread would be opened by nobody');
});

test('files of results: what nobody refers to goes at the start, and a file with its result', async (t) => {
  const dir = `${tempDir(t)}/results`;
  mkdirSync(dir);
  writeFileSync(`${dir}/lost.json`, '1');
  const room = new ResultRoom(1e6);
  const results = new ResultFolder({ dir, capacityBytes: room.capacityBytes, room: room.memory });
  const retention = { ...ROOMY, results: 1 };
  const rig = await opened(actorRig(t, () => new MemoryStore(retention, () => 1000), results));
  assert.deepEqual(readdirSync(dir), []);
  const write = (run: string) => results.write(run, 1, { rows: [1, 2, { a: 'b' }] });
  const first = await write('a@1');
  const { $file: file } = JSON.parse(first);
  record(rig, 1, [begin('a@1'), end('a@1', { result: first })]);
  await rig.heard();
  assert.deepEqual(await rig.store.ask('result-part', { file, path: ['rows', 2, 'a'] }), {
    value: 'b',
    found: 3,
    got: '',
  });
  assert.deepEqual(await rig.store.ask('result-part', { file, path: ['rows', 7] }), {
    found: 1,
    got: 'a list of 3',
  });
  const expectation = {
    schema: null,
    rows: ['rows'],
    minRows: 1,
    maxRows: null,
    value: null,
    maxChangePercent: 10,
  };
  assert.deepEqual(await rig.store.ask('judge-result', { file, expectation, lastGood: 3 }), {
    unmet: null,
    measure: 3,
  });
  const second = await write('a@2');
  record(rig, 3, [begin('a@2'), end('a@2', { result: second, atMs: 1600 })]);
  await rig.heard();
  assert.equal(readdirSync(dir).length, 1);
  await assert.rejects(rig.store.ask('result-part', { file, path: [] }), { code: 'input-invalid' });
  assert.equal(room.usedBytes, JSON.parse(second).$bytes);
});
