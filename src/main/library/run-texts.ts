/** Results and inputs of runs as functions of the program ask for them. */
import type { ReadText, SharedReads } from '../../actors/flow/index.ts';
import { ColibriError } from '../../actors/kernel/index.ts';
import { findRun } from '../../actors/runs/index.ts';
import type { Daemon } from '../daemon.ts';
import type { RunTexts } from './step-input.ts';

/** For a run: of items of a list, what one has read the others have. */
export function runTexts(
  of: string,
  { daemon, reads }: { readonly daemon: Daemon; readonly reads: SharedReads | null },
): RunTexts {
  const { runs, store } = daemon;
  const once = (what: string, read: ReadText) => reads?.once(of, what, read) ?? read();
  return {
    result: (run) =>
      once(`result of ${run}`, async () => {
        // What a run has that ends between two questions has left the first for the second.
        const live = await runs.ask('show-live', { run });
        if (live !== null) return live.result;
        return (await store.ask('results', { runs: [run] })).results[0] ?? null;
      }),
    input: (run) => once(`input of ${run}`, async () => (await findRun({ runs, store }, run))?.input ?? null),
    items: async (step) => {
      if (reads !== null) return reads.items(of, step);
      throw new ColibriError('internal', `expected flows for the results of ${step}, got none`);
    },
  };
}
