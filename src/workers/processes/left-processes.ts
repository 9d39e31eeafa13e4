/**
 * Ends what commands have started and their thread can no longer end: it was lost, or did not get to it before the stop.
 * Called on main, which reads /proc for it (some 10 µs a process of the machine) and waits for nothing.
 */
import { environmentOf, ProcessTable } from './process-table.ts';
import { RUN_MARK, signalAll, TREE_MARK, treeMarkOf } from './process-tree.ts';

/** A member may have been about to fork when it was read. */
const ROUNDS = 3;

/** All processes of these runs that were started by this process, with what shares their session. */
export function endProcessesOf(runs: ReadonlySet<string>): void {
  if (runs.size === 0) return;
  const table = new ProcessTable();
  const ownTicks = table.read(process.pid)?.startTicks ?? 0;
  const mark = `${TREE_MARK}=${treeMarkOf('')}`;
  for (let round = 0; round < ROUNDS; round++) {
    const entries = [...table.entries(performance.now()).values()].filter(
      ({ pid, startTicks }) => pid !== process.pid && startTicks >= ownTicks,
    );
    const sessions = new Set<number>();
    const found = entries.filter(({ pid, session }) => {
      const environment = environmentOf(pid);
      const run = environment.find((line) => line.startsWith(`${RUN_MARK}=`))?.slice(RUN_MARK.length + 1);
      const isOurs = run !== undefined && runs.has(run) && environment.some((line) => line.startsWith(mark));
      if (isOurs) sessions.add(session);
      return isOurs;
    });
    const members = entries.filter((entry) => found.includes(entry) || sessions.has(entry.session));
    if (members.length === 0) return;
    signalAll(table, members, 'SIGKILL');
  }
}
