/** How late one contender is, and what processor time it takes, in a process of its own. */
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../src/actors/kernel/index.ts';
import { type ContenderName, openContender } from './delay-contenders.ts';
import { type LateFigures, meter } from './lateness.ts';

/** Between the last insertion and the first instant. */
const LEAD_MS = 300;

/** So many at random instants within the time, each by itself, in monotonic time; all are put in before. */
export async function measureRandom(options: {
  readonly name: ContenderName;
  readonly firings: number;
  readonly seconds: number;
  readonly batchMs: number;
}): Promise<LateFigures> {
  const { name, firings, seconds, batchMs } = options;
  const late = new Float64Array(firings);
  let given = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const contender = openContender(name, {
    clock: systemClock,
    now: () => performance.now(),
    onDue: (dueMono) => {
      late[given] = performance.now() - dueMono;
      if (++given === firings) resolve();
    },
    batchMs,
  });
  // Putting them in takes its time: the first instant is after it.
  const startMono = performance.now() + LEAD_MS + firings / 100;
  for (let index = 0; index < firings; index++) contender.add(startMono + Math.random() * seconds * 1000);
  await sleep(Math.max(0, startMono - performance.now() - LEAD_MS / 2));
  const figures = meter();
  await promise;
  const answer = figures(late, seconds);
  contender.close();
  return answer;
}

/** So many jobs, all due at each whole second of wall time, as cron entries are. */
export async function measureEverySecond(options: {
  readonly name: ContenderName;
  readonly jobs: number;
  readonly seconds: number;
}): Promise<LateFigures> {
  const { name, jobs, seconds } = options;
  const late = new Float64Array(jobs * seconds);
  let given = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const firstAtMs = 1000 * Math.ceil((Date.now() + LEAD_MS) / 1000);
  const contender = openContender(name, {
    clock: systemClock,
    now: () => Date.now(),
    onDue: (dueAtMs) => {
      late[given] = performance.timeOrigin + performance.now() - dueAtMs;
      if (++given === late.length) resolve();
      if (dueAtMs < firstAtMs + 1000 * (seconds - 1)) contender.add(dueAtMs + 1000);
    },
  });
  for (let job = 0; job < jobs; job++) contender.add(firstAtMs);
  await sleep(Math.max(0, firstAtMs - Date.now() - LEAD_MS / 2));
  const figures = meter();
  await promise;
  const answer = figures(late, seconds);
  contender.close();
  return answer;
}
