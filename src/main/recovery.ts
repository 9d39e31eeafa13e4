/**
 * Recovery: before any new work, what the daemon before left behind is taken over from the store, in pages: its runs
 * that are not over, its dead letters, up to when the occurrences of each schedule have been dealt with, and how each task
 * ended last.
 */
import type { ActorRef, Clock } from '../actors/kernel/index.ts';
import type { StoreMessages, StoreOpening } from '../actors/protocol.ts';
import type { LastEnd } from '../actors/records.ts';
import type { Runs } from '../actors/runs/index.ts';
import type { TaskSpec } from './config/index.ts';
import { scheduleText } from './schedule/index.ts';

export interface RecoveryOptions {
  readonly clock: Clock;
  readonly store: ActorRef<StoreMessages>;
  readonly runs: Runs;
  /** Tasks and flows. */
  readonly tasks: readonly Pick<TaskSpec, 'name' | 'schedule'>[];
  /** Of this daemon; unique. */
  readonly boot: string;
}

export interface Recovered {
  readonly opening: StoreOpening;
  /** By task: occurrences up to this instant have been dealt with. */
  readonly handledMs: ReadonlyMap<string, number>;
  /** How each task ended last. */
  readonly ends: readonly LastEnd[];
  readonly interrupted: number;
  readonly orphaned: number;
  readonly tookMs: number;
}

/** A disk may be slow; a check after a crash reads all of the journal. */
const STORE_MS = 60_000;

/** Rejects with `store-failed`. */
export async function recover({ clock, store, runs, tasks, boot }: RecoveryOptions): Promise<Recovered> {
  const beganMono = clock.monoMs();
  const within = { timeoutMs: STORE_MS };
  const opening = await store.ask('open', { boot, kept: 0 }, within);
  let interrupted = 0;
  for (let after = 0, left = opening.unfinished > 0; left; ) {
    const page = await store.ask('unfinished', { after }, within);
    for (const run of page.runs) {
      if (run.state === 'running') interrupted++;
      runs.restore(run);
    }
    left = page.next !== null;
    after = page.next ?? 0;
  }
  for (let after = 0, left = opening.letters > 0; left; ) {
    const page = await store.ask('letters', { after }, within);
    for (const letter of page.letters) runs.restoreLetter(letter);
    left = page.next !== null;
    after = page.next ?? 0;
  }
  runs.restored(opening.delayed);
  const handledMs = await mount(store, tasks, clock.wallMs());
  const { ends } = await store.ask('last-ends', null, within);
  runs.knowEnds(ends);
  const { orphaned } = runs.figures;
  return { opening, handledMs, ends, interrupted, orphaned, tookMs: clock.monoMs() - beganMono };
}

async function mount(
  store: ActorRef<StoreMessages>,
  tasks: RecoveryOptions['tasks'],
  atMs: number,
): Promise<ReadonlyMap<string, number>> {
  const schedules = tasks.flatMap(({ name, schedule }) => {
    const text = scheduleText(schedule);
    return text === null ? [] : [{ task: name, schedule: text }];
  });
  if (schedules.length === 0) return new Map();
  const { handledMs } = await store.ask('mount', { atMs, schedules }, { timeoutMs: STORE_MS });
  return new Map(schedules.map(({ task }, index) => [task, handledMs[index] ?? atMs]));
}
