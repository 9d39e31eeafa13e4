/**
 * Runs that are not over and those of the past, as one list. Main knows the first ones, the store the others; of a run
 * that both know, main knows more: the store may not have its last transitions yet.
 */
import type { ActorRef } from '../kernel/index.ts';
import type { RunFilter, RunsMessages, StoreMessages } from '../protocol.ts';
import type { RunView } from '../views/run-view.ts';

export interface RunKeepers {
  readonly runs: ActorRef<RunsMessages>;
  readonly store: ActorRef<StoreMessages>;
}

/** Null: it never was, or has been forgotten. A run that ends between the two questions has left the first for the second. */
export async function findRun({ runs, store }: RunKeepers, run: string): Promise<RunView | null> {
  return (await runs.ask('show-live', { run })) ?? (await store.ask('show', { run }));
}

/** The newest first, at most `filter.limit`. */
export async function listRuns(keepers: RunKeepers, filter: RunFilter): Promise<readonly RunView[]> {
  const { runs, store } = keepers;
  const [live, kept] = await Promise.all([runs.ask('live', filter), store.ask('list', filter)]);
  const byId = new Map<string, RunView>();
  for (const view of kept) byId.set(view.run, view);
  for (const view of live) byId.delete(view.run);
  // As the store had it these are in the state that was asked for. Main may have them in another one, or the store by now.
  const open = [...byId.values()].filter(({ endedAtMs }) => filter.state !== null && endedAtMs === null);
  for (const view of await Promise.all(open.map(({ run }) => findRun(keepers, run)))) {
    if (view !== null && view.state !== filter.state) byId.delete(view.run);
  }
  for (const view of live) byId.set(view.run, view);
  return [...byId.values()]
    .sort((a, b) => b.createdAtMs - a.createdAtMs || (a.run < b.run ? 1 : -1))
    .slice(0, filter.limit);
}
