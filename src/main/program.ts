/**
 * The first lines of the process where the program is built: the parts, and how the process and its threads begin with them.
 *
 * The optimising compilers are off until the governor turns them on: reading a config would keep them busy for nothing,
 * 30 ms of the start, and 12 MB of jobs that pile up behind each other. They are turned off here and not by flags of the
 * process, because from then on V8 refuses the compiled code that the runtime carries for its own modules: what the main
 * thread needs of those is loaded first, in a third of the time. Whether it is optimised is in the hash of the code
 * caches of the parts: those are made and used after this.
 */
import { createParts } from '../workers/threads/parts.ts';
import { setOptimising } from './memory/optimising.ts';

export { createParts, runOnThread } from '../workers/threads/parts.ts';

/** What a daemon loads on its main thread, 40 modules with those that these bring. */
const NEEDED = ['worker_threads', 'perf_hooks', 'v8'];

/** `folder`: see `createParts`. */
export function runProgram(folder: string | null): void {
  for (const name of NEEDED) process.getBuiltinModule(`node:${name}`);
  setOptimising(false);
  createParts(folder).load('main');
}
