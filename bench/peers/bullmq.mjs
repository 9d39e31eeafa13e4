// `bullmq.mjs SOCKET`: a queue and its worker in one process, on the Redis at that Unix socket. Makes the measurements
// that its parent asks for, the same as the parent makes with colibri.
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { closedLoop } from '../closed-loop.ts';
import { keepGoing } from '../keep-going.ts';
import { pacedLoop } from '../paced-loop.ts';

/** Ended jobs that are kept: as many as colibri keeps of its runs. */
const KEPT = 10_000;
/** None from 20 to 1,000 was faster by more than the noise. */
const CONCURRENCY = 100;

const [path] = process.argv.slice(2);
const connection = () => new Redis({ path, maxRetriesPerRequest: null });
const queue = new Queue('noop', {
  connection: connection(),
  defaultJobOptions: { removeOnComplete: { count: KEPT } },
});
const worker = new Worker('noop', async () => null, { connection: connection(), concurrency: CONCURRENCY });
const waiting = new Map();
const early = new Set();
worker.on('completed', ({ id }) => {
  const done = waiting.get(id);
  if (done === undefined) early.add(id);
  else {
    waiting.delete(id);
    done();
  }
});
worker.on('failed', (_job, error) => {
  throw error;
});

const add = () => queue.add('noop', null);

async function run() {
  const { id } = await add();
  if (early.delete(id)) return;
  await new Promise((done) => waiting.set(id, done));
}

process.on('message', async ({ what, inFlight, perSecond, count, beside }) => {
  const load = beside > 0 ? keepGoing({ inFlight: beside, call: run }) : null;
  const call = what === 'run' ? run : add;
  const figures =
    perSecond === null
      ? await closedLoop({ inFlight, count, call })
      : await pacedLoop({ perSecond, count, call });
  await load?.stop();
  // What was only added is done, too, before anything else is measured.
  while ((await queue.getJobCountByTypes('waiting', 'active')) > 0)
    await new Promise((next) => setTimeout(next, 20));
  early.clear();
  process.send(figures);
});
process.on('disconnect', () => process.exit());
await worker.waitUntilReady();
process.send('ready');
