/** What is said of the times of a flow and of its steps, also where a daemon ended in between. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { runDocument } from '../../src/actors/control/documents.ts';
import { appRun } from '../../src/main/library/app-run.ts';
import { journalFile } from '../store/sqlite-journal.ts';
import { FlowsRig, flowDefinition, stepDefinition as step } from './flows-rig.ts';

const STEPS = [step('pull'), step('sum', { dependsOn: ['pull'] })];
const SECOND_MS = 1000;

function rigOf(t: TestContext, timeoutMs: number | null): FlowsRig {
  const file = journalFile(t);
  const rig = new FlowsRig({ flows: [flowDefinition(STEPS, { timeoutMs })], file });
  t.after(() => rig.close());
  return rig;
}

function documentOf(rig: FlowsRig, run: string): ReturnType<typeof runDocument> {
  return runDocument(rig.view(run)!);
}

for (const [what, timeoutMs] of [
  ['without a timeout', null],
  ['with a timeout', 3_600_000],
] as const) {
  test(`a flow ${what} began once, however many daemons it takes, and each attempt when it began`, async (t) => {
    const rig = rigOf(t, timeoutMs);
    await rig.clock.advance(7 * SECOND_MS);
    const firstMs = rig.clock.wallMs();
    const run = await rig.start();
    await rig.clock.advance(10 * SECOND_MS);
    rig.finish(`${run}/pull`);
    await rig.settle();
    const starts = [firstMs];
    for (let daemon = 0; daemon < 2; daemon++) {
      await rig.clock.advance(SECOND_MS);
      await rig.crash();
      starts.push(rig.clock.wallMs());
      const { started_at, attempts } = documentOf(rig, run);
      assert.equal(Date.parse(started_at!), firstMs, 'while it runs');
      assert.deepEqual(
        attempts.map((one) => Date.parse(one.started_at)),
        starts,
      );
    }
    await rig.clock.advance(5 * SECOND_MS);
    rig.finish(`${run}/sum`);
    await rig.told();
    const over = documentOf(rig, run);
    assert.equal(over.state, 'success');
    assert.equal(Date.parse(over.started_at!), firstMs);
    assert.equal(over.duration_ms, Date.parse(over.ended_at!) - firstMs, 'the time between both');
    assert.deepEqual(
      over.attempts.map((one) => Date.parse(one.started_at)),
      starts,
    );
    assert.equal(appRun(rig.view(run)!).startedAtMs, firstMs);
    const [pull, sum] = (await rig.show(run)).steps!;
    assert.deepEqual([pull?.startedAtMs, pull?.endedAtMs], [firstMs, firstMs + 10 * SECOND_MS]);
    assert.deepEqual(
      [sum?.startedAtMs, sum?.endedAtMs],
      [firstMs + 10 * SECOND_MS, rig.clock.wallMs()],
      'a step began with the first attempt of its run',
    );
  });
}

test('a run that is no flow says when its last attempt began, and how long that took', async (t) => {
  const rig = rigOf(t, null);
  const run = await rig.start();
  await rig.clock.advance(10 * SECOND_MS);
  await rig.crash();
  const againMs = rig.clock.wallMs();
  await rig.clock.advance(SECOND_MS);
  rig.finish(`${run}/pull`, { durationMs: SECOND_MS });
  await rig.told();
  const { started_at, ended_at, duration_ms, attempts } = documentOf(rig, `${run}/pull`);
  assert.deepEqual([Date.parse(started_at!), Date.parse(ended_at!)], [againMs, againMs + SECOND_MS]);
  assert.equal(duration_ms, SECOND_MS);
  assert.deepEqual(
    attempts.map(({ state }) => state),
    ['interrupted', 'success'],
  );
});

test('a step that the config has no more did run: its run says so', async (t) => {
  const rig = rigOf(t, null);
  const run = await rig.start();
  await rig.clock.advance(SECOND_MS);
  await rig.crash([flowDefinition([step('fetch'), step('sum', { dependsOn: ['fetch'] })])]);
  await rig.told();
  const { state, error, attempt } = rig.view(`${run}/pull`)!;
  assert.deepEqual([state, attempt], ['cancelled', 1]);
  assert.equal(error?.message, 'cancelled before it ran again, after attempt 1');
  rig.runs.cancel(run);
  await rig.settle();
});
