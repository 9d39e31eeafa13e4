/** Whose code blocked a thread that had to be ended for it, as far as that is known, and what the log says of it. */
import type { ExecuteOrder } from '../actors/execution.ts';
import type { ThreadSight } from '../actors/kernel/index.ts';

/** Tasks named where it is not known which one it was. */
const NAMED = 5;

export type BlockedFields = Readonly<Record<string, string | number>>;

/**
 * The run that is to blame; null where nobody can tell. `called`: of the handler that was called and has not come back.
 * The word of the thread itself goes before it: a handler may have called the code of another run.
 */
export function blockedBy(sight: ThreadSight | null, called: string | null): string | null {
  if (sight === null || sight.stack === '') return null;
  return sight.owner ?? called;
}

/** `orders`: what was in flight there. With the run, where it is known, else with the tasks it may have been of. */
export function blockedFields(
  sight: ThreadSight | null,
  run: string | null,
  orders: readonly Pick<ExecuteOrder, 'run' | 'task'>[],
): BlockedFields {
  if (sight === null || sight.stack === '') return {};
  const at = sight.stack === null ? {} : { stack: sight.stack };
  if (run !== null) {
    const order = orders.find((one) => one.run === run);
    return { ...(order === undefined ? {} : { task: order.task }), run, ...at };
  }
  const tasks = [...new Set(orders.map(({ task }) => task))];
  if (tasks.length === 1) return { task: tasks[0]!, ...at };
  return { tasks: tasks.slice(0, NAMED).join(', '), of: tasks.length, ...at };
}
