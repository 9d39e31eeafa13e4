/** Plays what a daemon writes into a store, and sends again what it lost, as main does. */
import assert from 'node:assert/strict';
import { ColibriError } from '../../src/actors/kernel/index.ts';
import { Appended, type SqliteStore, StoreTrouble } from '../../src/actors/store/index.ts';
import type { Step } from './random-history.ts';

export interface Played {
  /** Times that the store was in trouble, or could not be opened. */
  readonly troubles: number;
}

export interface Watch {
  /** Steps up to this one, which made a commit, are kept; −1: it is open. */
  committed?(step: number): void;
  /** What follows `step` is lost; −1: nothing was kept. */
  lost?(step: number): void;
}

/** One fault may be met up to three times: by a question, by the write that says what went with it, by the one after. */
const MOST_TROUBLES = 15;

/** Opens the store, takes every step in order, and closes it. A fault is thrown on. */
export function play(store: SqliteStore, steps: readonly Step[], watch: Watch = {}): Played {
  let troubles = 0;
  /** True where it went well. */
  const tried = (work: () => void): boolean => {
    try {
      work();
      return true;
    } catch (error) {
      const known =
        error instanceof StoreTrouble || (error instanceof ColibriError && error.code === 'store-failed');
      if (!known) throw error;
      assert.ok(++troubles <= MOST_TROUBLES, `expected the trouble to pass, got ${error.message}`);
      return false;
    }
  };
  while (!tried(() => store.open('boot-1', 0)));
  let kept = -1;
  watch.committed?.(kept);
  for (let at = 0; at < steps.length; at++) {
    const step = steps[at]!;
    // Main is told nothing by a question that failed: the next write says what went with it.
    if (step.do === 'ask') tried(() => ask(store, step.run, step.mark));
    else if (!tried(() => take(store, step))) {
      watch.lost?.(kept);
      at = kept;
    } else if (step.do === 'commit' || step.do === 'mount') {
      kept = at;
      watch.committed?.(at);
      tried(() => store.forgottenFiles());
    }
  }
  store.close();
  return { troubles };
}

function take(store: SqliteStore, step: Exclude<Step, { do: 'ask' }>): void {
  if (step.do === 'record') {
    assert.notEqual(store.append(step.batch), Appended.Gap);
  } else if (step.do === 'audit') {
    store.audit(step.entry);
  } else if (step.do === 'mount') {
    assert.equal(store.mount(step.body).length, step.body.schedules.length);
  } else {
    store.commit();
  }
}

function ask(store: SqliteStore, run: string, mark: string): void {
  store.show(run);
  store.list({ task: null, state: null, limit: 5 });
  store.marked('a', [mark]);
  store.unfinished(0);
  store.delayed({ dueAtMs: 0, position: 0 });
  store.delayedRun(run);
  store.flowSteps({ flows: ['a@0'], after: 0 });
  store.results([run]);
  store.keptResults([run]);
  store.letters(0);
  store.audits(3);
  store.lastEnds();
  store.usage();
  store.resultFiles();
}
