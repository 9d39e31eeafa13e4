/**
 * What a cpu thread starts from: puts the handlers together and gives Piscina the function to call.
 *
 * The thread runs handlers and nothing else, one at a time.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { MemoryShort } from '../../actors/kernel/memory-short.ts';
import { Tidier } from '../../actors/kernel/tidier.ts';
import type { CpuThreadData } from '../cpu-pool/cpu-protocol.ts';
import { builtInHandlers } from '../handlers/index.ts';
import { Registry } from '../registry.ts';
import { startCpuThread } from './cpu-thread.ts';

const TIDY_EVERY_MS = 6000;
/** What its start leaves behind is 2 MB, in the moment in which the whole is largest. */
const FIRST_TIDY_EVERY_MS = 250;

const { modules, short } = workerData as CpuThreadData;
const memory = new MemoryShort(short);
const registry = new Registry({ builtIns: builtInHandlers, modules });

/** Takes the text of one batch; see `CpuBatchRunner.run`. */
export const runBatch = startCpuThread({
  data: workerData as CpuThreadData,
  port: parentPort,
  resolve: (name) => registry.resolve(name),
  tidier: new Tidier({
    busyEveryMs: TIDY_EVERY_MS,
    firstEveryMs: FIRST_TIDY_EVERY_MS,
    isShort: () => memory.isShort,
  }),
});
