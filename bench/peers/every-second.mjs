// `every-second.mjs NAME JOBS SECONDS`: so many jobs of a peer, all due at each whole second; prints as JSON how late they
// were and what processor time they took. A peer that knows intervals only has intervals of a second, begun on one.
import { setTimeout as sleep } from 'node:timers/promises';
import { meter } from '../lateness.ts';

const [name, jobsText, secondsText] = process.argv.slice(2);
const [jobs, seconds] = [Number(jobsText), Number(secondsText)];
const late = new Float64Array(jobs * seconds);
/** By job, how often it came. */
const times = new Int32Array(jobs);
let given = 0;
let firstAtMs = Number.POSITIVE_INFINITY;
const { promise: all, resolve } = Promise.withResolvers();

function fire(job) {
  const nowMs = performance.timeOrigin + performance.now();
  if (nowMs < firstAtMs - 500 || times[job] === seconds) return;
  late[given] = nowMs - (firstAtMs + 1000 * times[job]++);
  if (++given === late.length) resolve();
}

async function mount() {
  switch (name) {
    case 'croner': {
      const { Cron } = await import('croner');
      for (let job = 0; job < jobs; job++) new Cron('* * * * * *', () => fire(job));
      return;
    }
    case 'node-cron': {
      const { schedule } = await import('node-cron');
      for (let job = 0; job < jobs; job++) schedule('* * * * * *', () => fire(job));
      return;
    }
    case 'toad-scheduler': {
      const { SimpleIntervalJob, Task, ToadScheduler } = await import('toad-scheduler');
      const scheduler = new ToadScheduler();
      const made = Array.from(
        { length: jobs },
        (_, job) =>
          new SimpleIntervalJob({ seconds: 1 }, new Task(`${job}`, () => fire(job)), { id: `${job}` }),
      );
      while (Date.now() % 1000 !== 0);
      for (const job of made) scheduler.addSimpleIntervalJob(job);
      return;
    }
    default:
      throw new Error(`expected the name of a peer, got ${name}`);
  }
}

await mount();
firstAtMs = 1000 * Math.ceil((Date.now() + 300) / 1000);
await sleep(firstAtMs - Date.now() - 150);
const figures = meter();
// One that leaves instants out does not come to all of them.
await Promise.race([all, sleep(1000 * (seconds + 3))]);
process.stdout.write(JSON.stringify(figures(late.subarray(0, given), seconds)), () => process.exit(0));
