/** The short forms of the config: one key at the top for a setting that is deeper. */
import type { SchemaPath } from '../../actors/kernel/check-schema.ts';
import { type ProblemList, pathText } from './places.ts';
import { type RawObject, setAt, valueAt } from './raw-tree.ts';

/** Short key → the path it stands for. */
export const SHORT_FORMS: Readonly<Record<string, readonly string[]>> = {
  queue_size: ['queues', 'ready', 'capacity'],
  workers: ['pools', 'io', 'slots'],
  log_level: ['log', 'level'],
};

/** Both forms at once are a problem: which one is meant cannot be known. */
export function checkShortForms(tree: RawObject, problems: ProblemList): void {
  for (const [short, long] of Object.entries(SHORT_FORMS)) {
    if (valueAt(tree, [short]) === undefined || valueAt(tree, long) === undefined) continue;
    problems.add([short], `expected either ${short} or ${pathText(long)}, got both; remove one`, 'key');
    delete tree[short];
  }
}

/** Moves what is written in short to where it belongs. Its place stays the short key. */
export function expandShortForms(tree: RawObject): ReadonlyMap<string, SchemaPath> {
  const moved = new Map<string, SchemaPath>();
  for (const [short, long] of Object.entries(SHORT_FORMS)) {
    const value = valueAt(tree, [short]);
    if (value === undefined || !setAt(tree, long, value)) continue;
    delete tree[short];
    moved.set(pathText(long), [short]);
  }
  return moved;
}
