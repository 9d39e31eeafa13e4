/** Of orders that begin together: the ordinal of the journal that all of them wait for; null: of none. */
import type { ExecuteOrder } from '../actors/execution.ts';

export function latestOf(orders: readonly ExecuteOrder[]): number | null {
  let latest: number | null = null;
  for (const { after } of orders)
    if (after !== undefined && (latest === null || after > latest)) latest = after;
  return latest;
}
