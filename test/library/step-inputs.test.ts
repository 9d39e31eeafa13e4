/** What functions of a flow are given, and may ask for: all of it, however much it is together, and of nobody a copy in each run. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestClock as Steps } from '../../src/main/index.ts';
import {
  functionWith,
  inputOf,
  type RunTexts,
  stepOf,
  wholeInput,
} from '../../src/main/library/step-input.ts';
import { tempDir } from '../support/temp-dir.ts';
import { library } from './library.ts';

const { App, TestClock } = library;

/** As JSON text the longest that a trigger takes, and that a run keeps outside of a file. */
const LONGEST = 'x'.repeat(256 * 1024 - 2);

test('results and payloads of any size together', async (t) => {
  const app = new App({ store: { kind: 'memory' }, defaults: { maxRetry: 0 }, logLevel: 'silent' });
  t.after(() => app.stop());
  const pulls = Array.from({ length: 5 }, (_, n) =>
    app.task({ name: `pull-${n}` }, (payload: string) => `${n}${payload.slice(1)}`),
  );
  const seen: unknown[] = [];
  const all = app.task({ name: 'all', dependsOn: pulls }, (payload: string, { resultOf }) => {
    seen.push(payload.length, ...pulls.map((pull) => resultOf(pull).length));
  });
  const list = app.task({ name: 'list' }, (_: string) => ['a', 'b']);
  const [first] = pulls;
  const item = app.task(
    { name: 'item', each: { list, concurrency: 2 }, dependsOn: [first!, list] },
    (one: string, { flow, resultOf }) =>
      [one, String(flow?.payload).length, resultOf(first!)[0], resultOf(list).length] as const,
  );
  const flow = app.flow<string>('flow', [...pulls, all, list, item]);
  await app.start();
  const { id } = await app.trigger(flow, LONGEST, { wait: true });
  assert.deepEqual(seen, new Array(6).fill(LONGEST.length));
  assert.deepEqual((await app.run(`${id}/item[1]`))?.result, ['b', LONGEST.length, '0', 2]);
  assert.equal((await app.run(`${id}/item[1]`))?.input, 'b');
});

function program(directory: string, { clock, isBroken }: { clock: Steps; isBroken: boolean }) {
  const app = new App({ directory, clock, random: () => 0.5, logLevel: 'silent' });
  const seen: string[] = [];
  const pull = app.task({ name: 'pull' }, (day: string) => `orders of ${day}`);
  const use = app.task(
    { name: 'use', dependsOn: [pull], maxRetry: 1, backoff: { baseSeconds: 60 } },
    (day: string, { resultOf }) => {
      if (isBroken) throw new Error('not yet');
      seen.push(`${day}: ${resultOf(pull)}`);
    },
  );
  const flow = app.flow<string>('flow', [pull, use]);
  return { app, seen, use, flow };
}

test('a process after reads them too, and so does a flow that is run again', async (t) => {
  const directory = tempDir(t);
  const clock = new TestClock(Date.UTC(2026, 0, 1));
  const before = program(directory, { clock, isBroken: true });
  t.after(() => before.app.stop());
  await before.app.start();
  const { id } = await before.app.trigger(before.flow, 'monday');
  await before.app.idle();
  assert.equal((await before.app.run(`${id}/use`))?.state, 'retrying');
  await before.app.stop();

  const after = program(directory, { clock, isBroken: false });
  t.after(() => after.app.stop());
  await after.app.start();
  await clock.advance(60_000);
  await after.app.idle();
  assert.deepEqual(after.seen, ['monday: orders of monday']);
  await after.app.rerun(id, { from: after.use });
  await after.app.idle();
  assert.deepEqual(after.seen, new Array(2).fill('monday: orders of monday'));
});

test('what is named is read once, laid over the rest, and fails the run where it is gone', async () => {
  const written = { base: 1, ...functionWith({ own: { day: 1 }, ofItem: false, results: ['a', 'b'] }) };
  const text = JSON.stringify(written)
    .replaceAll('{{ flow.run }}', 'f@1')
    .replace('"{{ steps.a.run }}"', '"f@0/a"')
    .replace('"{{ steps.b.run }}"', 'null');
  const asked: string[] = [];
  const runs = (kept: boolean): RunTexts => ({
    result: async (run) => {
      asked.push(run);
      return kept ? '[7]' : null;
    },
    input: async (run) => {
      asked.push(run);
      return kept ? '{"pay":true}' : null;
    },
    items: async (step) => {
      asked.push(step);
      return '[1,null]';
    },
  });
  const whole: unknown = JSON.parse((await wholeInput(text, runs(true)))!);
  assert.deepEqual(asked, ['f@0/a', 'f@1']);
  assert.deepEqual(inputOf(whole), { base: 1, day: 1 });
  const { results, flow, named } = stepOf(whole)!;
  assert.deepEqual(
    [results, flow.payload, flow.run, named],
    [{ a: [7], b: null }, { pay: true }, 'f@1', undefined],
  );
  assert.equal(wholeInput(JSON.stringify(whole), runs(true)), null, 'there is nothing more to read');
  await assert.rejects(wholeInput(text, runs(false))!, { code: 'input-invalid' });
  const ofFailure = { own: { day: 1 }, ofItem: false, results: [], isOfFailure: true };
  const lacks = await wholeInput(JSON.stringify(functionWith(ofFailure)), runs(false));
  assert.equal(
    stepOf(JSON.parse(lacks!))!.flow.payload,
    null,
    'what runs after a failure runs whatever is gone',
  );
  // What a user writes under the same key is no step, and breaks nothing.
  for (const odd of [
    '5',
    'null',
    '"colibri:step":',
    '{"named":5}',
    '{"named":{"results":5}}',
    '{"named":{}}',
  ]) {
    const forged = odd.startsWith('"') ? JSON.stringify(odd) : `{"colibri:step":${odd}}`;
    await assert.doesNotReject(async () => wholeInput(forged, runs(true))?.catch(() => {}));
  }
});

test('the task after a failure runs when its flow is forgotten', async (t) => {
  const clock = new TestClock(Date.UTC(2026, 0, 1));
  const app = new App({
    store: { kind: 'memory' },
    retention: { maxMb: 0.001 },
    clock,
    random: () => 0.5,
    logLevel: 'silent',
  });
  t.after(() => app.stop());
  const fails = app.task({ name: 'fails', maxRetry: 0 }, (): null => {
    throw new Error('no luck');
  });
  const seen: unknown[] = [];
  const alarm = app.task(
    { name: 'alarm', maxRetry: 1, backoff: { baseSeconds: 60 } },
    (to: { who: string }, { attempt, flow }) => {
      seen.push([to.who, flow?.payload, flow?.error]);
      if (attempt === 1) throw new Error('the line is down');
    },
  );
  const onFailure = { task: alarm, with: { who: '{{ payload.who }}' } };
  const flow = app.flow<{ who: string }>('flow', [fails], { onFailure });
  await app.start();
  const { id } = await app.trigger(flow, { who: 'ann' });
  await app.idle();
  while ((await app.run(id)) !== null) await app.trigger(fails, undefined, { wait: true }).catch(() => {});
  await clock.advance(60_000);
  await app.idle();
  assert.deepEqual(seen.at(-1), ['ann', null, 'step fails failed: no luck']);
  assert.equal(seen.length, 2);
});
