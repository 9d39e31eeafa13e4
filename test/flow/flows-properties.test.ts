/**
 * Random flows with all that may happen to them, over the parts as a daemon wires them: failures, skips, retries, cancels,
 * timeouts, lost events, daemons that end at any moment, and the next with a step more before one. When nothing bad happens any more, the flow ends.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { FlowDefinition, StepSpec } from '../../src/actors/flow/index.ts';
import { journalFile } from '../store/sqlite-journal.ts';
import type { HasAfter } from '../support/temp-dir.ts';
import { anySteps, tasksOf } from './fixtures.ts';
import { FlowsRig, flowDefinition, stepDefinition } from './flows-rig.ts';

const ITEMS = 3;

interface Play {
  readonly steps: readonly StepSpec[];
  readonly choices: readonly number[];
  readonly timeout: boolean;
  readonly crashes: boolean;
}

/** The flow with its lists, results that are passed on, and steps that are tried again. */
function definitionOf({ steps, timeout }: Play): FlowDefinition {
  const definitions = steps.map((step, index) => {
    const [up] = step.dependsOn.filter((name) => steps.find(({ task }) => task === name)!.each === null);
    const passes = up !== undefined && step.onUpstreamFailure !== 'run' && index % 3 === 0;
    return stepDefinition(step.task, {
      ...step,
      each: step.each === null ? null : { ...step.each, list: '{{ payload.items }}' },
      with: passes ? { from: `{{ steps.${up}.result }}` } : null,
      limits:
        index % 4 === 0
          ? {
              timeoutMs: 1000,
              maxRetry: 1,
              backoff: { kind: 'scaled', baseMs: 10, capMs: 20 },
              priority: index % 3,
            }
          : null,
    });
  });
  return flowDefinition(definitions, { timeoutMs: timeout ? 400_000 : null });
}

async function playOut(t: HasAfter, play: Play): Promise<void> {
  let at = 0;
  /** 0 when the choices are used up. */
  const choose = (n: number): number => (play.choices[at++] ?? 0) % n;
  const definition = definitionOf(play);
  /** Steps that began in a daemon that is gone: by another config, they may wait for more. */
  const begunBefore = new Set<string>();
  const rig: FlowsRig = new FlowsRig({
    flows: [definition],
    file: play.crashes ? journalFile(t) : null,
    slots: 3,
    isLost: () => choose(20) === 19,
    onTaken: (run) => expectAllowed(rig, run, begunBefore),
  });
  try {
    const run = await rig.start('f', { items: new Array(ITEMS).fill(0) });
    let cancelled = false;
    for (let turn = 0; rig.runs.figures.unfinished > 0; turn++) {
      assert.ok(turn < 3000, 'the flow does not end');
      const choice = choose(24);
      if (choice === 23 && play.crashes) {
        for (const { run: one } of rig.events) if (one !== run) begunBefore.add(stepOf(one));
        await rig.crash([withOneMore(definition, choose(2 * play.steps.length))]);
      } else if (choice === 22 && choose(4) === 3 && rig.runs.table.get(run)?.state === 'running') {
        rig.runs.cancel(run);
        cancelled = true;
      } else if (choice === 21 || rig.pool.held.size === 0) await rig.clock.advance(30_000);
      else finishOne(rig, choose);
      if (choose(2) === 0) await rig.clock.advance(0);
    }
    await rig.settle();
    await expectWhole(rig, run, { cancelled, definition: rig.definitions[0]! });
  } finally {
    rig.close();
  }
}

/** A run on a slot ends: well, mostly. One that is told to stop mostly does. */
function finishOne(rig: FlowsRig, choose: (n: number) => number): void {
  const held = [...rig.pool.held.keys()];
  const run = held[choose(held.length)]!;
  const error = { code: 'handler-failed', message: 'no luck' } as const;
  if (rig.pool.aborted.includes(run) && choose(4) < 3) return rig.finish(run, { status: 'cancelled' });
  switch (choose(12)) {
    case 9:
      return rig.finish(run, { status: 'failed', error, retryable: true });
    case 10:
      return rig.finish(run, { status: 'failed', error });
    case 11:
      return rig.finish(run, { status: 'interrupted' });
    default:
      return rig.result(run, choose(3) === 2 ? null : { rows: [1, 2] });
  }
}

/** With another step before this one; as it was where there is none of this index. */
function withOneMore(definition: FlowDefinition, before: number): FlowDefinition {
  const steps = definition.steps.map((step, index) =>
    index === before ? { ...step, dependsOn: [...step.dependsOn, 'more'] } : step,
  );
  return before < steps.length ? { ...definition, steps: [stepDefinition('more'), ...steps] } : definition;
}

/** Everything before it is over, and it was not over itself. */
function expectAllowed(rig: FlowsRig, run: string, begunBefore: ReadonlySet<string>): void {
  const flow = run.slice(0, run.indexOf('/'));
  assert.ok(!rig.over.has(run), `${run} is run again after its end`);
  const { steps } = rig.definitions[0]!;
  const name = stepOf(run);
  if (begunBefore.has(name)) return;
  const step = steps.find(({ task }) => task === name)!;
  for (const up of step.dependsOn) {
    // One that began by another config may be skipped by now, and is told to stop.
    const isCut = (other: string) => begunBefore.has(up) && rig.pool.aborted.includes(other);
    const held = [...rig.pool.held.keys()];
    const live = held.filter((other) => isOf(other, `${flow}/${up}`) && !isCut(other));
    assert.deepEqual(live, [], `${run} began before the end of ${up}`);
  }
}

/** Of the run of a step, or of an item of it. */
function stepOf(run: string): string {
  return /\/([^[]+)/.exec(run)![1]!;
}

function isOf(run: string, step: string): boolean {
  return run === step || run.startsWith(`${step}[`);
}

async function expectWhole(
  rig: FlowsRig,
  run: string,
  { cancelled, definition }: { cancelled: boolean; definition: FlowDefinition },
): Promise<void> {
  const { steps, end } = await rig.show(run);
  const view = rig.view(run)!;
  assert.ok(['success', 'failed', 'cancelled'].includes(view.state), view.state);
  assert.equal(typeof end, 'string');
  // One that is gone from the config is shown where it had begun.
  const names = new Set(steps?.map(({ step }) => step));
  for (const { task } of definition.steps) assert.ok(names.delete(task), `${task} is not shown`);
  assert.ok(names.size === 0 || (names.size === 1 && names.has('more')), [...names].join());
  for (const { state, reason } of steps!) {
    assert.ok(['success', 'failed', 'skipped', 'cancelled'].includes(state), state);
    assert.ok(reason !== null && reason !== '' && reason !== 'run-lost', `${state} ${reason}`);
  }
  if (view.state === 'success') assert.ok(steps!.every(({ state }) => state === 'success'));
  else if (!cancelled) assert.ok(steps!.some(({ state }) => state !== 'success'));
  // What a step says of itself is what became of its run.
  for (const { step, state, reason } of steps!) {
    const own = rig.view(`${run}/${step}`);
    if (own !== null && (reason === 'done' || reason === 'run-failed')) assert.equal(own.state, state);
  }
  const succeeded = new Map<string, number>();
  for (const { run: one, state } of rig.events) {
    if (state === 'success') succeeded.set(one, (succeeded.get(one) ?? 0) + 1);
  }
  for (const [one, times] of succeeded) assert.equal(times, 1, `${one} succeeded ${times} times`);
  assert.equal(rig.flows.active, 0);
}

const plays = (crashes: boolean, most: number): fc.Arbitrary<Play> =>
  fc.record({
    steps: anySteps(most),
    choices: fc.array(fc.nat(1e6), { maxLength: 400, size: 'max' }),
    timeout: fc.boolean(),
    crashes: fc.constant(crashes),
  });

test('there is something to play', () => {
  fc.assert(
    fc.property(anySteps(12), (steps) => {
      assert.ok(tasksOf(steps).size === steps.length);
    }),
    { numRuns: 5 },
  );
});

for (const [crashes, numRuns, most] of [
  [false, 40, 40],
  [true, 10, 12],
] as const) {
  test(`every step ends with a reason, ${crashes ? 'over the end of daemons' : 'whatever gets lost'}`, async (t) => {
    await fc.assert(
      fc.asyncProperty(plays(crashes, most), (play) => playOut(t, play)),
      { numRuns },
    );
  });
}
