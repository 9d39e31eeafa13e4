import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestClock } from '../../src/actors/kernel/index.ts';
import { MemoryGovernor, threadsThatFit } from '../../src/main/memory/index.ts';

const MB = 2 ** 20;

function rig({
  rssMb = 25,
  fileMb = 3,
  budgetMb = 40,
  maxThreads = 1,
  running = 0,
  runsUserCode = true,
} = {}) {
  const clock = new TestClock();
  const state = {
    anon: (rssMb - fileMb) * MB,
    file: fileMb * MB,
    heap: 10 * MB,
    threadCollections: 0,
    active: 0,
    ended: 0,
    threads: maxThreads,
    running,
    narrow: false,
    done: [] as string[],
    switches: [] as string[],
    warnings: [] as string[],
    isShort: false,
    looks: 0,
    young: 0,
  };
  const governor = new MemoryGovernor({
    clock,
    budgetBytes: budgetMb * MB,
    readMemory() {
      state.looks++;
      return { rss: state.anon + state.file, anon: state.anon, file: state.file };
    },
    heldBytes: () => state.heap,
    threadCollections: () => state.threadCollections,
    runsUserCode,
    ended: () => state.ended,
    active: () => state.active,
    hands: {
      mapSingly: () => void state.done.push('map-singly'),
      releasePages() {
        state.done.push('release');
        state.file = 2 * MB;
      },
      trim: () => void state.done.push('trim'),
      collect: () => void state.done.push('collect'),
      collectYoung: () => void state.young++,
      setShort: (short) => {
        state.isShort = short;
      },
      collectThreads: () => void state.done.push('collect threads'),
      setOptimising: (on) => void state.switches.push(on ? 'optimise' : 'plain'),
    },
    cpu: {
      get threads() {
        return state.threads;
      },
      maxThreads,
      get running() {
        return state.running;
      },
      setThreads: (threads) => {
        state.threads = threads;
        state.done.push(`threads ${threads}`);
      },
      setNarrow: (narrow) => {
        state.narrow = narrow;
        state.done.push(narrow ? 'narrow' : 'wide');
      },
    },
    warn: (message) => void state.warnings.push(message),
  });
  return { clock, governor, state };
}

test('pages of files go back when there are many, and are left alone when there are few', async () => {
  const { clock, governor, state } = rig({ rssMb: 36, fileMb: 20 });
  governor.start();
  assert.deepEqual(state.done, ['map-singly', 'release']);
  state.done.length = 0;
  state.active = 1;
  state.anon = 26 * MB;
  await clock.advance(1000);
  assert.deepEqual(state.done, []);
  state.file = 9 * MB;
  await clock.advance(1000);
  assert.deepEqual(state.done, ['release']);
  assert.equal(governor.steps.release, 2);
  governor.stop();
  assert.equal(clock.timers, 0);
});

test('with room in the budget work keeps the pages of files that it needs; at rest they go back', async () => {
  const { clock, governor, state } = rig({ rssMb: 20, fileMb: 3, budgetMb: 80 });
  governor.start();
  state.done.length = 0;
  state.active = 1;
  state.file = 14 * MB;
  governor.threadStarts();
  await clock.advance(5000);
  assert.equal(state.done.length, 0);
  state.active = 0;
  await clock.advance(4000);
  assert.ok(state.done.includes('release'));
  governor.stop();
});

test('what the start left behind is collected when nothing ran for a while, then only what has grown', async () => {
  const { clock, governor, state } = rig();
  state.active = 1;
  governor.start();
  await clock.advance(5000);
  assert.ok(!state.done.includes('collect'), 'somebody waits');
  state.active = 0;
  await clock.advance(50_000);
  const one = ['collect', 'trim', 'release'];
  assert.deepEqual(state.done, ['map-singly', ...one]);
  await clock.advance(180_000);
  assert.deepEqual(state.done, ['map-singly', ...one, ...one, ...one], 'far apart: code that nobody runs');
  state.done.length = 0;
  await clock.advance(600_000);
  assert.deepEqual(state.done, [], 'nothing has grown');
  state.heap += 2 * MB;
  await clock.advance(20_000);
  assert.deepEqual(state.done, ['collect', 'trim', 'release']);
  assert.equal(governor.steps.collect, 4);
  governor.stop();
});

test('what other threads collect in their own time is counted, and given back', async () => {
  const { clock, governor, state } = rig();
  state.active = 1;
  governor.start();
  await clock.advance(5000);
  state.done.length = 0;
  state.threadCollections = 2;
  await clock.advance(1000);
  assert.deepEqual(state.done, ['trim', 'release']);
  assert.equal(governor.steps.collect, 2);
  await clock.advance(10_000);
  assert.deepEqual(state.done, ['trim', 'release'], 'once');
  governor.stop();
});

test('what work has left in malloc goes back when it has run dry, once', async () => {
  const { clock, governor, state } = rig();
  governor.start();
  await clock.advance(10_000);
  state.done.length = 0;
  state.active = 1;
  state.anon += 2 * MB;
  await clock.advance(5000);
  assert.deepEqual(state.done, [], 'there is work');
  state.active = 0;
  await clock.advance(20_000);
  assert.deepEqual(state.done, ['trim', 'release']);
  assert.equal(governor.steps.collect, 1, 'that of the start');
  governor.stop();
});

test('while a cpu thread starts, what can be given back is, and pages of files are looked at often', async () => {
  const { clock, governor, state } = rig({ rssMb: 30, fileMb: 3 });
  governor.threadStarts();
  assert.deepEqual(state.done, [], 'before the start there is nothing to govern');
  governor.start();
  state.done.length = 0;
  governor.threadStarts();
  assert.deepEqual(
    state.done,
    ['release', 'collect', 'collect threads'],
    'what the start has left is garbage',
  );
  await clock.advance(20);
  state.done.length = 0;
  state.active = 1;
  for (let look = 0; look < 5; look++) {
    state.file = 9 * MB;
    await clock.advance(20);
  }
  assert.deepEqual(state.done, Array(5).fill('release'), 'the thread has touched them');
  await clock.advance(400);
  const { looks } = state;
  await clock.advance(400);
  assert.equal(state.looks - looks, 4, 'most of them is touched in the beginning');
  await clock.advance(2000);
  state.done.length = 0;
  state.heap += 5 * MB;
  governor.threadStarts();
  assert.deepEqual(state.done, ['release'], 'the next thread soon after: no collection, as with any growth');
  await clock.advance(10_000);
  state.done.length = 0;
  governor.threadStarts();
  assert.deepEqual(state.done, ['release', 'collect', 'collect threads']);
  await clock.advance(20_000);
  state.done.length = 0;
  governor.threadStarts();
  assert.deepEqual(state.done, ['release'], 'nothing has grown');
  governor.stop();
  assert.equal(clock.timers, 0);
  governor.threadStarts();
  assert.equal(clock.timers, 0, 'after the stop it looks no more');
});

test('several threads that start at once are looked at as one is; where thread follows thread, pages go ten times a second at most', async () => {
  const { clock, governor, state } = rig({ rssMb: 25, fileMb: 3, budgetMb: 80 });
  governor.start();
  state.done.length = 0;
  state.active = 4;
  for (let thread = 0; thread < 4; thread++) governor.threadStarts();
  assert.equal(state.done.length, 0, 'there is plenty of room for each of them');
  state.anon = 60 * MB;
  state.file = 15 * MB;
  await clock.advance(20);
  assert.ok(state.done.includes('release'), 'for all of them there is not');
  let releases = 0;
  for (let step = 0; step < 1000; step++) {
    if (step % 5 === 0) governor.threadStarts();
    state.done.length = 0;
    state.file = 15 * MB;
    await clock.advance(20);
    releases += state.done.filter((done) => done === 'release').length;
  }
  assert.ok(releases <= 400, `${releases} releases in 20 s`);
  governor.stop();
});

test('what cannot be read is no room: a thread that starts is made room for', async () => {
  const { governor, state } = rig({ rssMb: 0, fileMb: 0 });
  governor.start();
  state.done.length = 0;
  governor.threadStarts();
  assert.ok(state.done.includes('release'));
  governor.stop();
});

test('compilers are switched once a thread has begun to start, not while it does', async () => {
  const { clock, governor, state } = rig();
  governor.start();
  await clock.advance(50);
  governor.threadStarts();
  await clock.advance(90);
  assert.deepEqual(state.switches, []);
  await clock.advance(30);
  assert.deepEqual(state.switches, ['optimise']);
  governor.stop();
});

test('when cpu threads have ended, what main held of them is collected soon, once', async () => {
  const { clock, governor, state } = rig();
  governor.start();
  state.running = 2;
  await clock.advance(20_000);
  assert.equal(governor.steps.collect, 1, 'that of the start');
  state.running = 0;
  await clock.advance(3000);
  assert.equal(governor.steps.collect, 2);
  state.running = 2;
  await clock.advance(3000);
  state.running = 1;
  await clock.advance(30_000);
  assert.equal(governor.steps.collect, 3);
  governor.stop();
});

test('what V8 keeps of collections is let go when there was none for 13 s, whoever collected, once', async () => {
  const { clock, governor, state } = rig();
  governor.start();
  const young = async (seconds: number): Promise<number> => {
    const before = state.young;
    await clock.advance(1000 * seconds);
    return state.young - before;
  };
  await clock.advance(5000);
  assert.equal(governor.steps.collect, 1, 'that of the start');
  assert.deepEqual([await young(5), await young(10), await young(30)], [0, 1, 0]);
  for (let count = 0; count < 5; count++) {
    state.threadCollections++;
    assert.equal(await young(10), 0, 'V8 would not listen yet');
  }
  assert.deepEqual([await young(10), await young(30)], [1, 0]);
  state.active = 1;
  state.threadCollections++;
  assert.deepEqual(
    [await young(10), await young(10), await young(10)],
    [0, 1, 0],
    'in the middle of work too',
  );
  governor.stop();
});

test('a heap that grows all the time is collected at most once in ten seconds', async () => {
  const { clock, governor, state } = rig();
  governor.start();
  const grow = async (seconds: number): Promise<number> => {
    const before = governor.steps.collect;
    for (let second = 0; second < seconds; second++) {
      state.heap += 3 * MB;
      await clock.advance(1000);
    }
    return governor.steps.collect - before;
  };
  const collected = await grow(120);
  assert.ok(collected >= 10 && collected <= 12, `${collected}`);
  governor.stop();
});

test('near the budget it takes one step at a time, the mildest first, and takes them back when there is room', async () => {
  const { clock, governor, state } = rig({ rssMb: 43, maxThreads: 3, running: 3 });
  state.active = 2;
  governor.start();
  await clock.advance(14_000);
  const steps = state.done.filter((step) => step !== 'release' && step !== 'trim');
  assert.deepEqual(steps, ['map-singly', 'collect', 'collect threads', 'narrow', 'threads 2', 'threads 1']);
  assert.equal(state.threads, 1, 'never without a thread: work goes on');
  assert.equal(governor.steps.shrink, 3);
  state.done.length = 0;
  state.running = 1;
  state.anon = 12 * MB;
  await clock.advance(40_000);
  assert.deepEqual(
    state.done.filter((step) => /threads|wide/.test(step)),
    ['threads 2', 'threads 3', 'wide'],
  );
  assert.equal(governor.steps.grow, 3);
  governor.stop();
});

test('near the budget and not beyond it no thread is given up', async () => {
  const { clock, governor, state } = rig({ rssMb: 39.5, maxThreads: 2, running: 2 });
  state.active = 2;
  governor.start();
  await clock.advance(60_000);
  assert.equal(state.threads, 2);
  assert.equal(state.narrow, true);
  assert.ok(governor.steps.collect <= 5, `${governor.steps.collect}`);
  assert.deepEqual(state.warnings, []);
  governor.stop();
});

test('beyond the budget with nothing left to make smaller it says so once', async () => {
  const { clock, governor, state } = rig({ rssMb: 60, maxThreads: 1 });
  governor.start();
  await clock.advance(60_000);
  assert.equal(state.warnings.length, 1);
  governor.stop();
});

test('at rest beyond the budget it costs next to nothing: what has not grown is not collected again', async () => {
  const { clock, governor, state } = rig({ rssMb: 60, fileMb: 3 });
  governor.start();
  await clock.advance(300_000);
  const before = governor.steps.collect;
  state.done.length = 0;
  // What is in use is there again after each release.
  for (let second = 0; second < 600; second++) {
    state.file = 3 * MB;
    await clock.advance(1000);
  }
  assert.equal(governor.steps.collect, before);
  assert.ok(!state.done.includes('collect threads'));
  assert.ok(!state.done.includes('release'), 'it would not be within the budget');
  state.heap += 2 * MB;
  await clock.advance(20_000);
  assert.equal(governor.steps.collect, before + 1);
  governor.stop();
});

test('a moment of room does not bring a thread back', async () => {
  const { clock, governor, state } = rig({ rssMb: 43, maxThreads: 2, running: 2 });
  state.active = 1;
  governor.start();
  await clock.advance(10_000);
  assert.equal(state.threads, 1);
  state.running = 1;
  for (let turn = 0; turn < 5; turn++) {
    state.anon = 12 * MB;
    await clock.advance(8000);
    state.anon = 36 * MB;
    await clock.advance(1000);
  }
  assert.equal(state.threads, 1);
  governor.stop();
});

test('without work it looks once a second, with work four times, near the budget ten times', async () => {
  for (const [active, rssMb, least, most] of [
    [0, 25, 9, 12],
    [1, 25, 38, 45],
    [1, 39.5, 95, 230],
    [0, 39.5, 9, 24],
    [0, 60, 9, 24],
  ] as const) {
    const { clock, governor, state } = rig({ rssMb });
    state.active = active;
    governor.start();
    await clock.advance(10_000);
    state.looks = 0;
    await clock.advance(10_000);
    assert.ok(state.looks >= least && state.looks <= most, `${state.looks} looks with ${active} active`);
    governor.stop();
  }
});

test('runs that come and go between two looks are work', async () => {
  const { clock, governor, state } = rig();
  governor.start();
  const work = async (seconds: number): Promise<void> => {
    for (let look = 0; look < 20 * seconds; look++) {
      state.ended += 100;
      await clock.advance(50);
    }
  };
  await work(2);
  state.looks = 0;
  await work(10);
  assert.ok(state.looks >= 38 && state.looks <= 45, `${state.looks} looks`);
  assert.ok(!state.done.includes('collect'), 'it is not quiet');
  await clock.advance(10_000);
  assert.ok(state.done.includes('collect'), 'it is now');
  state.looks = 0;
  for (let second = 0; second < 10; second++) {
    state.ended++;
    await clock.advance(1000);
  }
  assert.ok(state.looks <= 11, `${state.looks} looks with a run a second`);
  governor.stop();
});

test('in the middle of work main collects where its heap has grown much and memory is not plenty', async () => {
  for (const [rssMb, grownMb, least, most] of [
    [34, 3, 9, 13],
    [34, 0.1, 0, 1],
    [25, 3, 0, 0],
  ] as const) {
    const { clock, governor, state } = rig({ rssMb });
    state.active = 1;
    state.heap = 1 * MB;
    governor.start();
    for (let second = 0; second < 30; second++) {
      state.heap += grownMb * MB;
      await clock.advance(1000);
    }
    const count = governor.steps.collect;
    assert.ok(count >= least && count <= most, `${count} of ${rssMb} MB, ${grownMb} MB a second`);
    governor.stop();
  }
});

test('while memory cannot be read nothing is made larger or smaller, and it looks again', async () => {
  const { clock, governor, state } = rig({ rssMb: 30, maxThreads: 3 });
  governor.start();
  await clock.advance(3000);
  const threads = state.threads;
  state.done.length = 0;
  const { anon, file } = state;
  Object.assign(state, { anon: 0, file: 0 });
  await clock.advance(60_000);
  assert.deepEqual([state.threads, state.done, state.warnings], [threads, [], []]);
  Object.assign(state, { anon: anon + 30 * MB, file });
  state.active = 1;
  await clock.advance(10_000);
  assert.equal(state.narrow, true);
  governor.stop();
});

test('start and stop are idempotent', async () => {
  const { clock, governor, state } = rig();
  governor.start();
  governor.start();
  assert.equal(state.done.filter((step) => step === 'map-singly').length, 1);
  governor.stop();
  governor.stop();
  await clock.advance(60_000);
  assert.equal(clock.timers, 0);
});

test('code is optimised while runs end fast and for a minute after, or where users have code', async () => {
  const { clock, governor, state } = rig({ runsUserCode: false });
  governor.start();
  const switched = () => state.switches.join(' ');
  assert.equal(switched(), '', 'not while threads are being started');
  await clock.advance(100);
  assert.equal(switched(), 'plain');
  state.active = 1;
  for (let look = 0; look < 40; look++) {
    state.ended += 500;
    await clock.advance(250);
  }
  assert.equal(switched(), 'plain', '2,000 runs a second');
  for (let second = 0; second < 10; second++) {
    state.ended += 2000;
    await clock.advance(1000);
  }
  assert.equal(switched(), 'plain', '2,000 runs at one instant of each second');
  for (let look = 0; look < 8; look++) {
    state.ended += 2000;
    await clock.advance(250);
  }
  assert.equal(switched(), 'plain optimise', '8,000 runs a second');
  await clock.advance(50_000);
  assert.equal(switched(), 'plain optimise');
  await clock.advance(15_000);
  assert.equal(switched(), 'plain optimise plain');
  governor.stop();
  const user = rig();
  user.governor.start();
  await user.clock.advance(100_000);
  assert.deepEqual(user.state.switches, ['optimise']);
  user.governor.stop();
});

test('a thread is only begun where there is room for it; one that runs is left alone', () => {
  const fit = (options: Partial<Parameters<typeof threadsThatFit>[0]>) =>
    threadsThatFit({
      limitBytes: 60 * MB,
      rssBytes: 25 * MB,
      running: 0,
      maxThreads: 8,
      quiet: false,
      ...options,
    });
  assert.equal(fit({}), 3);
  assert.equal(fit({ maxThreads: 2 }), 2);
  assert.equal(fit({ rssBytes: 34 * MB, running: 1 }), 3);
  assert.equal(fit({ rssBytes: 70 * MB }), 1, 'never none');
  assert.equal(fit({ rssBytes: 70 * MB, running: 4 }), 4);
  assert.equal(fit({ rssBytes: 30 * MB }), 3);
  assert.equal(fit({ rssBytes: 30 * MB, quiet: true }), 2, 'main will take more when there is work');
});

test('threads that do not fit are not begun, and at rest all that fit may be', async () => {
  const { clock, governor, state } = rig({ rssMb: 30, maxThreads: 2 });
  governor.start();
  assert.equal(state.threads, 1, 'from the start on');
  assert.equal(governor.steps.shrink, 1);
  state.anon = 12 * MB;
  await clock.advance(3000);
  assert.equal(state.threads, 2);
  assert.equal(governor.steps.grow, 1);
  state.anon = 31 * MB;
  await clock.advance(3000);
  assert.equal(state.threads, 1);
  state.active = 1;
  state.anon = 12 * MB;
  await clock.advance(9000);
  assert.equal(state.threads, 1, 'in the middle of work there has to be room for a while');
  await clock.advance(3000);
  assert.equal(state.threads, 2);
  governor.stop();
});

test('near the budget pages of files go back more eagerly', async () => {
  for (const [rssMb, releases] of [
    [37, 0],
    [39, 1],
    [45, 1],
  ] as const) {
    const { clock, governor, state } = rig({ rssMb, fileMb: 3 });
    state.active = 1;
    governor.start();
    await clock.advance(150);
    assert.equal(state.done.filter((step) => step === 'release').length, releases, `${rssMb} MB`);
    governor.stop();
  }
});

test('pages of files that work needs are given back once a second, not at each look', async () => {
  const { clock, governor, state } = rig({ rssMb: 45, fileMb: 3 });
  state.active = 1;
  governor.start();
  let releases = 0;
  for (let look = 0; look < 50; look++) {
    await clock.advance(100);
    releases += state.done.splice(0).filter((step) => step === 'release').length;
    state.anon = 42 * MB;
    state.file = 5 * MB;
  }
  assert.ok(releases >= 4 && releases <= 6, `${releases} in 5 s`);
  governor.stop();
});

test('no thread is given up for pages of files that could go first', async () => {
  const { clock, governor, state } = rig({ rssMb: 40, fileMb: 5, maxThreads: 2 });
  state.active = 1;
  state.running = 2;
  state.threads = 2;
  governor.start();
  state.threads = 2;
  for (let look = 0; look < 100; look++) {
    state.anon = 36 * MB;
    state.file = 5 * MB;
    await clock.advance(100);
  }
  assert.deepEqual([state.threads, state.narrow, state.warnings], [2, false, []]);
  governor.stop();
});

test('threads are told that memory is short from some share of the budget on, and when it is not any more', async () => {
  const { clock, governor, state } = rig();
  state.active = 1;
  state.anon = 30 * MB;
  state.file = MB;
  governor.start();
  await clock.advance(1000);
  assert.equal(state.isShort, false);
  state.anon = 32 * MB;
  await clock.advance(1000);
  assert.equal(state.isShort, true);
  state.anon = 30 * MB;
  await clock.advance(1000);
  assert.equal(state.isShort, false);
  governor.stop();
});
