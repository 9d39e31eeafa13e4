/**
 * Runs that are not over and those of the past, as one list. Main knows the first ones, the store the others; of a run
 * that both know, main knows more: the store may not have its last transitions yet.
 */
import type { ActorRef } from '../kernel/index.ts';
import type { RunFilter, RunsMessages, RunView, StoreMessages } from '../protocol.ts';

export interface RunKeepers {
  readonly runs: ActorRef<RunsMessages>;
  readonly store: ActorRef<StoreMessages>;
}

/** The newest first, at most `filter.limit`. */
export async function listRuns({ runs, store }: RunKeepers, filter: RunFilter): Promise<readonly RunView[]> {
  // In this order: a run that ends between the two questions has left the first for the second.
  const [live, kept] = await Promise.all([runs.ask('live', filter), store.ask('list', filter)]);
  const byId = new Map<string, RunView>();
  for (const view of kept) byId.set(view.run, view);
  for (const view of live) byId.delete(view.run);
  // As the store has it this one is in the state that was asked for; main may have it in another one.
  const open = [...byId.values()].filter(({ endedAtMs }) => filter.state !== null && endedAtMs === null);
  const newer = await Promise.all(open.map(({ run }) => runs.ask('show-live', { run })));
  for (const view of newer) if (view !== null && view.state !== filter.state) byId.delete(view.run);
  for (const view of live) byId.set(view.run, view);
  return [...byId.values()]
    .sort((a, b) => b.createdAtMs - a.createdAtMs || (a.run < b.run ? 1 : -1))
    .slice(0, filter.limit);
}
