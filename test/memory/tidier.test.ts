import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GarbageCollector } from '../../src/actors/kernel/index.ts';
import { Tidier, type TidierOptions, TidyTimer } from '../../src/actors/kernel/tidier.ts';

const MB = 2 ** 20;
const FLOOR = 5 * MB;

function rig(options: Partial<TidierOptions> = {}) {
  const state = { heap: FLOOR, mono: 0, isShort: true, collected: [] as number[] };
  const tidier = new Tidier({
    busyEveryMs: 6000,
    isShort: () => state.isShort,
    heldBytes: () => state.heap,
    monoMs: () => state.mono,
    collect() {
      state.collected.push(state.mono);
      state.heap = FLOOR;
    },
    ...options,
  });
  return { state, tidier };
}

/** Says `idle` as often as the tidier asks for it; resolves the times at which it collected. */
function rest({ state, tidier }: ReturnType<typeof rig>, untilMs: number): readonly number[] {
  state.collected.length = 0;
  for (let againMs: number | null = 0; againMs !== null && state.mono + againMs <= untilMs; ) {
    state.mono += againMs;
    againMs = tidier.idle();
  }
  state.mono = untilMs;
  return state.collected;
}

test('what the start left behind is collected first, then the code that only it ran; then there is rest', () => {
  assert.deepEqual(rest(rig(), 600_000), [0, 1000, 2000]);
  const rare = rig({ firstEveryMs: 60_000 });
  assert.deepEqual(rest(rare, 600_000), [0, 60_000, 120_000]);
  assert.equal(rare.tidier.collections, 3);
});

test('an idle thread collects again as soon as there is enough, once', () => {
  const one = rig({ idleGrownBytes: MB });
  rest(one, 10_000);
  one.state.heap += MB - 1;
  assert.deepEqual(rest(one, 10_100), [], 'not enough');
  one.state.heap += 1;
  assert.deepEqual(rest(one, 10_200), [10_100]);
  assert.deepEqual(rest(one, 60_000), []);
  one.state.heap += 3 * MB;
  one.tidier.worked();
  assert.deepEqual(one.state.collected, [60_000], 'in the middle of work');
  one.state.heap += MB;
  one.tidier.worked();
  assert.deepEqual(rest(one, 60_100), [60_000], 'and as soon as it is over');
});

test('where memory is not short, a thread collects when its work has run dry, however its heap has grown', () => {
  const one = rig();
  one.state.isShort = false;
  one.state.heap += 20 * MB;
  for (; one.state.mono < 60_000; one.state.mono += 10) one.tidier.worked();
  assert.deepEqual(one.state.collected, []);
  one.state.isShort = true;
  one.tidier.worked();
  assert.deepEqual(one.state.collected, [60_000]);
  one.state.isShort = false;
  one.state.heap += 20 * MB;
  assert.deepEqual(rest(one, 60_010), [60_000]);
});

test('a busy thread collects when its heap has grown, and seldom', () => {
  const { state, tidier } = rig();
  for (; state.mono < 60_000; state.mono += 10) {
    state.heap += MB / 150;
    tidier.worked();
  }
  assert.deepEqual(state.collected.slice(0, 3), [1000, 2000, 3000]);
  assert.equal(state.collected.length, 3 + Math.floor((60_000 - 3000) / 6000));
  const flat = rig();
  rest(flat, 10_000);
  flat.state.collected.length = 0;
  for (; flat.state.mono < 60_000; flat.state.mono += 10) flat.tidier.worked();
  assert.deepEqual(flat.state.collected, [], 'a heap that does not grow is left alone');
});

test('a heap that grows fast is collected more often, and no more than four times as often', () => {
  const { state, tidier } = rig();
  rest({ state, tidier }, 10_000);
  state.collected.length = 0;
  for (; state.mono < 40_000; state.mono += 10) {
    state.heap += MB / 10;
    tidier.worked();
  }
  assert.ok(state.collected.length >= 18 && state.collected.length <= 20, `${state.collected.length}`);
});

test('how often a heap that grows fast is collected may be said apart', () => {
  const { state, tidier } = rig({ busyEveryMs: 4000, fastEveryMs: 2500 });
  rest({ state, tidier }, 10_000);
  state.collected.length = 0;
  for (; state.mono < 40_000; state.mono += 10) {
    state.heap += MB / 10;
    tidier.worked();
  }
  assert.ok(state.collected.length >= 11 && state.collected.length <= 12, `${state.collected.length}`);
});

test('where memory is short it collects at once, whatever was before', () => {
  const { state, tidier } = rig();
  tidier.collect();
  tidier.collect();
  assert.deepEqual(state.collected, [0, 0]);
});

test('a timer tells busy from idle, and is gone when there is nothing left to do', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const said: string[] = [];
  const again: (number | null)[] = [700, null];
  let busy = false;
  const timer = new TidyTimer({
    tidier: {
      worked: () => void said.push('worked'),
      idle() {
        said.push('idle');
        return again.shift() ?? null;
      },
    },
    quietMs: 250,
    isBusy: () => busy,
  });
  const after = (ms: number) => {
    said.length = 0;
    // One by one: what is armed meanwhile counts from its own moment.
    for (let passed = 0; passed < ms; passed++) t.mock.timers.tick(1);
    return said.join(' ');
  };
  assert.equal(after(10_000), '', 'it has not worked');
  timer.worked();
  timer.worked();
  assert.equal(after(250), 'worked');
  assert.equal(after(250), 'idle');
  assert.equal(after(699), '');
  assert.equal(after(1), 'idle', 'as it was asked to');
  assert.equal(after(100_000), '', 'no timer is left');
  busy = true;
  timer.worked();
  assert.equal(after(1000), 'worked worked worked worked', 'in the middle of a long piece of work');
  busy = false;
  again[0] = 60_000;
  assert.equal(after(250), 'idle');
  timer.worked();
  assert.equal(after(250), 'worked', 'work does not wait for the end of a rest');
});

test('collecting frees what nobody holds, on this thread, without a flag of the process', () => {
  let big: object | null = { data: new Array(100_000).fill('x') };
  const weak = new WeakRef(big);
  big = null;
  const collector = new GarbageCollector();
  collector.collect();
  return new Promise<void>((resolve) => {
    // A WeakRef that was looked at or made in a turn holds until the turn ends.
    setImmediate(() => {
      collector.collect();
      assert.equal(weak.deref(), undefined);
      resolve();
    });
  });
});

test('what is new can be collected alone', () => {
  const collector = new GarbageCollector();
  const newBytes = () =>
    process
      .getBuiltinModule('node:v8')
      .getHeapSpaceStatistics()
      .find(({ space_name }) => space_name === 'new_space')!.space_used_size;
  collector.collectYoung();
  const before = newBytes();
  let last: object = {};
  for (let count = 0; count < 5000; count++) last = { count };
  assert.ok(newBytes() - before > 100_000, `${JSON.stringify(last)} and those before it`);
  collector.collectYoung();
  assert.ok(newBytes() - before < 50_000);
});

test('the time until it wants to look again is never less than nothing, however the clock goes on meanwhile', () => {
  let mono = 0;
  const tidier = new Tidier({
    busyEveryMs: 10_000,
    firstEveryMs: 1000,
    heldBytes: () => 0,
    collect: () => {},
    // Each look at the clock takes a little: over a thousand of them, one falls on either side of the moment.
    monoMs: () => (mono += 0.7),
  });
  for (let look = 0; look < 3000; look++) assert.ok((tidier.idle() ?? 0) >= 0);
});
