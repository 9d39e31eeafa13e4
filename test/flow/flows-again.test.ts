/** Flows that are run again, and those again: which instant they stand for, and whose results they go on with. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeAnswer } from '../runs/runs-setup.ts';
import { journalFile } from '../store/sqlite-journal.ts';
import type { HasAfter } from '../support/temp-dir.ts';
import { FlowsRig, flowDefinition, stepDefinition as step } from './flows-rig.ts';

const HOUR_MS = 3_600_000;

for (const kind of ['memory', 'sqlite'] as const) {
  describe(`flows again: ${kind}`, () => {
    const due = [step('pull', { with: { due: '{{ flow.due }}' } })];

    test('however it is run again, a flow is for the instant that it was for', async (t) => {
      const file = kind === 'memory' ? null : journalFile(t);
      const rig = new FlowsRig({ flows: [flowDefinition(due)], file });
      t.after(() => rig.close());
      const dueAtMs = rig.clock.wallMs() - 1000;
      const given = (run: string) => rig.pool.held.get(`${run}/pull`)?.input;
      const expected = JSON.stringify({ due: new Date(dueAtMs).toISOString() });
      const later = async (): Promise<void> => {
        await rig.clock.advance(HOUR_MS);
        if (file !== null) await rig.crash();
      };
      const first = 'f@first';
      rig.runs.due({ task: 'f', id: first, dueAtMs, origin: 'schedule' });
      await rig.settle();
      assert.equal(given(first), expected);
      rig.fail(`${first}/pull`);
      await rig.settle();
      await later();
      const second = await rig.again(first);
      assert.equal(given(second), expected, 'again');
      await later();
      assert.equal(given(second), expected, 'and by the daemon after');
      rig.fail(`${second}/pull`);
      await rig.settle();
      await later();
      const third = await rig.again(second, { kind: 'whole' });
      assert.equal(given(third), expected, 'one again of one again');
      rig.fail(`${third}/pull`);
      await rig.settle();
      await later();
      const { runs } = rig.runs.replay({ runs: [third], task: null, sinceMs: null, untilMs: null });
      await rig.settle();
      assert.equal(given(runs[0]!), expected, 'the replay of its dead letter');
      const lags = rig.events.flatMap(({ run, lagMs }) => (run.startsWith('f@first/') ? [] : (lagMs ?? [])));
      assert.ok(Math.max(...lags) <= 1000, `nobody is late who was asked for just now, got ${lags}`);
    });

    test('of a flow that never began too; one that was cancelled before its time does not wait for it', async (t) => {
      const file = kind === 'memory' ? null : journalFile(t);
      const rig = new FlowsRig({ flows: [flowDefinition(due)], file });
      t.after(() => rig.close());
      const running = await rig.start();
      const dueAtMs = rig.clock.wallMs() - 1000;
      rig.runs.due({ task: 'f', id: 'f@skipped', dueAtMs, origin: 'schedule' });
      await rig.settle();
      assert.equal(rig.view('f@skipped')?.state, 'skipped');
      rig.fail(`${running}/pull`);
      await rig.clock.advance(HOUR_MS);
      const second = await rig.again('f@skipped', { kind: 'whole' });
      assert.equal(
        rig.pool.held.get(`${second}/pull`)?.input,
        `{"due":"${new Date(dueAtMs).toISOString()}"}`,
      );
      rig.finish(`${second}/pull`);
      const answer = new FakeAnswer();
      const inAnHourMs = rig.clock.wallMs() + HOUR_MS;
      rig.runs.trigger({ task: 'f', payload: null, force: false, wait: false, dueAtMs: inAnHourMs }, answer);
      await rig.settle();
      const third = (answer.value as { run: string }).run;
      rig.runs.cancel(third);
      await rig.settle();
      await rig.again(third, { kind: 'whole' });
      assert.deepEqual(rig.held, ['pull']);
    });
  });
}

for (const kind of ['memory', 'sqlite'] as const) {
  test(`a flow that has succeeded in the end is no dead letter any more: ${kind}`, async (t) => {
    const file = kind === 'memory' ? null : journalFile(t);
    const rig = new FlowsRig({ flows: [flowDefinition([step('pull'), step('sum')])], file });
    t.after(() => rig.close());
    const letters = () => {
      const filter = { task: null, sinceMs: null, untilMs: null, limit: 100 };
      return rig.runs.deadLetters.list(filter).map(({ run }) => run);
    };
    const end = async (run: string, isGood: boolean): Promise<string> => {
      for (const one of [...rig.pool.held.keys()])
        if (isGood) rig.finish(one);
        else rig.fail(one);
      await rig.told();
      return run;
    };
    const other = await end(await rig.start(), false);
    const first = await end(await rig.start(), false);
    const second = await end(await rig.again(first), false);
    assert.deepEqual(letters(), [second, first, other]);
    assert.deepEqual(rig.resolved, [], 'one that fails is a letter beside them');
    if (kind === 'sqlite') await rig.crash();
    // Ids of triggers are unique in a daemon, and from then on.
    await rig.clock.advance(1000);
    const third = await rig.again(second, { kind: 'step', step: 'sum' });
    await end(third, true);
    assert.deepEqual(letters(), [other]);
    assert.deepEqual(rig.resolved, [[[second, first], third]]);
    if (kind === 'sqlite') {
      await rig.crash();
      assert.deepEqual(letters(), [other], 'also for the daemon after');
    }
    await end(await rig.again(first, { kind: 'whole' }), true);
    assert.equal(rig.resolved.length, 1, 'there is nothing to resolve any more');
  });
}

describe('flows again: results that were taken over, and are made anew', () => {
  const sum = step('sum', { dependsOn: ['pull', 'other'], with: { total: '{{ steps.pull.result }}' } });
  const without = [flowDefinition([step('pull'), step('other'), sum])];
  const more = [flowDefinition([step('fresh'), step('pull', { dependsOn: ['fresh'] }), step('other'), sum])];

  /** A flow again, with the result of `pull` taken over; then a daemon whose flow has a step before that. */
  async function madeAnew(t: HasAfter): Promise<{ readonly rig: FlowsRig; readonly run: string }> {
    const rig = new FlowsRig({ flows: without, file: journalFile(t) });
    t.after(() => rig.close());
    const first = await rig.start();
    rig.result(`${first}/pull`, 'old');
    rig.fail(`${first}/other`);
    await rig.settle();
    const run = await rig.again(first);
    assert.deepEqual(rig.held, ['other']);
    await rig.crash(more);
    rig.finish(`${run}/fresh`);
    await rig.settle();
    rig.result(`${run}/pull`, 'new');
    await rig.settle();
    return { rig, run };
  }

  test('one again of it takes over the new one', async (t) => {
    const { rig, run } = await madeAnew(t);
    rig.fail(`${run}/other`);
    await rig.settle();
    const last = await rig.again(run);
    rig.finish(`${last}/other`);
    await rig.settle();
    assert.equal(rig.pool.held.get(`${last}/sum`)?.input, '{"total":"new"}');
  });

  test('a daemon whose flow is as it was before goes on with the new one', async (t) => {
    const { rig, run } = await madeAnew(t);
    await rig.crash(without);
    await rig.clock.advance(1000);
    rig.finish(`${run}/other`);
    await rig.settle();
    assert.equal(rig.pool.held.get(`${run}/sum`)?.input, '{"total":"new"}');
  });
});

test('a number that has changed for good is taken as right by a run with a wider bound, and then by those with the one of before', async (t) => {
  const flows = (percent: number) => [
    flowDefinition([step('pull', { expect: { max_change_percent: percent } })]),
  ];
  const rig = new FlowsRig({ flows: flows(50), file: journalFile(t) });
  t.after(() => rig.close());
  const ends = async (run: string, rows: number): Promise<string> => {
    rig.result(`${run}/pull`, new Array(rows).fill(1));
    await rig.settle();
    return (await rig.states(run)).join();
  };
  assert.equal(await ends(await rig.start(), 9), 'pull success done');
  const failed = await rig.start();
  assert.equal(await ends(failed, 30), 'pull failed not-expected');
  const alike = await rig.again(failed);
  assert.equal(await ends(alike, 30), 'pull failed not-expected', 'a run again is held against the same');
  await rig.crash(flows(1000));
  assert.equal(await ends(await rig.again(alike), 30), 'pull success done');
  await rig.crash(flows(50));
  assert.equal(await ends(await rig.start(), 31), 'pull success done');
  assert.equal(await ends(await rig.start(), 9), 'pull failed not-expected');
});
