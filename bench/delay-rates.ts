/**
 * Operations a second of one contender with so many entries, in a process of its own. A hundred entries are due each
 * millisecond. Engines with one timer run on a clock whose time goes on by itself, so that no waiting is measured; one
 * timer an entry is another matter: it needs the real one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../src/actors/kernel/index.ts';
import { median } from './bench-row.ts';
import { type Contender, type ContenderName, openContender } from './delay-contenders.ts';
import { VirtualClock } from './virtual-clock.ts';

const DUE_PER_MS = 100;
/** Where time is real, entries are due within so much. */
const REAL_SPREAD_MS = 1000;
/** Far enough that nothing is due before it is cancelled. */
const FAR_MS = 3_600_000;
const REAL_HOLD_MS = 1500;

/** Operations a second; null where the contender does not have them. */
export interface Rates {
  readonly insert: number;
  readonly cancel: number;
  readonly reschedule: number | null;
  readonly pop: number;
  /** Pairs. */
  readonly insertAndPop: number;
  /** Pairs of a pop and an insertion, the number of entries staying the same. */
  readonly hold: number | null;
}

interface Seconds {
  readonly insert: number;
  readonly cancel: number;
  readonly reschedule: number | null;
  readonly fill: number;
  readonly pop: number;
}

export async function measureRates(name: ContenderName, count: number, rounds: number): Promise<Rates> {
  const isReal = name === 'timers' || name === 'setTimeout';
  const found: Seconds[] = [];
  const holds: number[] = [];
  // The first round warms up and is not counted.
  for (let round = 0; round <= rounds; round++) {
    const seconds = isReal ? await realRound(name, count) : virtualRound(name, count);
    if (round > 0) found.push(seconds);
  }
  if (name === 'timers') holds.push(await realHold(name, count));
  else if (!isReal) for (let round = 0; round < rounds; round++) holds.push(virtualHold(name, count));
  const middle = (of: (seconds: Seconds) => number | null) =>
    median(found.map((one) => of(one) ?? Number.NaN));
  return {
    insert: count / middle(({ insert }) => insert),
    cancel: count / middle(({ cancel }) => cancel),
    reschedule: isReal && name === 'setTimeout' ? null : count / middle(({ reschedule }) => reschedule),
    pop: count / middle(({ pop }) => pop),
    insertAndPop: count / middle(({ fill, pop }) => fill + pop),
    hold: holds.length === 0 ? null : median(holds),
  };
}

function randoms(count: number, below: number): Float64Array {
  return new Float64Array(count).map(() => Math.random() * below);
}

/** Another order, the same each time: a step that shares no factor with the count goes through all. */
function shuffled(count: number): Int32Array {
  let step = Math.floor(count * 0.618) | 1;
  while (gcd(step, count) !== 1) step += 2;
  return Int32Array.from({ length: count }, (_, index) => (index * step) % count);
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}

function secondsOf(work: () => void): number {
  const startMono = performance.now();
  work();
  return (performance.now() - startMono) / 1000;
}

/** Inserted, moved and cancelled in another order. */
function comeAndGo(
  contender: Contender,
  dueMs: Float64Array,
): Pick<Seconds, 'insert' | 'reschedule' | 'cancel'> {
  const order = shuffled(dueMs.length);
  const handles = new Array<unknown>(dueMs.length);
  const insert = secondsOf(() => {
    for (let index = 0; index < dueMs.length; index++) handles[index] = contender.add(dueMs[index]!);
  });
  const reschedule =
    contender.move === undefined
      ? null
      : secondsOf(() => {
          for (const index of order) contender.move!(handles[index]!, dueMs[dueMs.length - 1 - index]!);
        });
  const cancel = secondsOf(() => {
    for (const index of order) contender.remove(handles[index]);
  });
  return { insert, reschedule, cancel };
}

function virtualRound(name: ContenderName, count: number): Seconds {
  const clock = new VirtualClock();
  const now = () => clock.monoMs();
  let given = 0;
  const onDue = () => void given++;
  const dueMs = randoms(count, count / DUE_PER_MS);
  const first = openContender(name, { clock, now, onDue });
  const moved = comeAndGo(first, dueMs);
  first.close();
  const contender = openContender(name, { clock, now, onDue });
  const startMs = now();
  const fill = secondsOf(() => {
    for (let index = 0; index < count; index++) contender.add(startMs + dueMs[index]!);
  });
  const pop = secondsOf(() => {
    while (given < count && clock.step());
  });
  contender.close();
  if (given !== count) throw new Error(`expected ${name} to give out ${count}, got ${given}`);
  return { ...moved, fill, pop };
}

function virtualHold(name: ContenderName, count: number): number {
  const clock = new VirtualClock();
  const now = () => clock.monoMs();
  const spreadMs = (2 * count) / DUE_PER_MS;
  const increments = randoms(count, spreadMs);
  const operations = Math.max(count, 100_000);
  let given = 0;
  const contender = openContender(name, {
    clock,
    now,
    onDue: (dueMs) => void contender.add(dueMs + increments[given++ % count]!),
  });
  for (let index = 0; index < count; index++) contender.add(increments[index]!);
  const seconds = secondsOf(() => {
    while (given < operations && clock.step());
  });
  contender.close();
  return given / seconds;
}

async function realRound(name: ContenderName, count: number): Promise<Seconds> {
  const clock = systemClock;
  const now = () => performance.now();
  let given = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const onDue = () => {
    if (++given === count) resolve();
  };
  const contender = openContender(name, { clock, now, onDue });
  const spread = randoms(count, REAL_SPREAD_MS);
  const farMono = now() + FAR_MS;
  const moved = comeAndGo(
    contender,
    spread.map((ms) => farMono + ms),
  );
  const startMono = now();
  const fill = secondsOf(() => {
    for (let index = 0; index < count; index++) contender.add(startMono + spread[index]!);
  });
  // The event loop gets its turn when all are due.
  while (now() < startMono + REAL_SPREAD_MS + 2);
  const popMono = now();
  await promise;
  const pop = (now() - popMono) / 1000;
  contender.close();
  return { ...moved, fill, pop };
}

/** A second of processor time, for most of the real time nothing is due. */
async function realHold(name: ContenderName, count: number): Promise<number> {
  const now = () => performance.now();
  const spreadMs = (2 * count) / DUE_PER_MS;
  const increments = randoms(count, spreadMs);
  let given = 0;
  const contender = openContender(name, {
    clock: systemClock,
    now,
    onDue: (dueMs) => void contender.add(dueMs + increments[given++ % count]!),
  });
  const startMono = now();
  for (let index = 0; index < count; index++) contender.add(startMono + increments[index]!);
  await sleep(100);
  const [before, givenBefore] = [process.cpuUsage(), given];
  await sleep(REAL_HOLD_MS);
  const { user, system } = process.cpuUsage(before);
  const rate = (given - givenBefore) / ((user + system) / 1e6);
  contender.close();
  return rate;
}
