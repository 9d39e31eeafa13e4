/** What every Store does, whatever it keeps things in. Each implementation runs this suite. */
import { describe, type TestContext, test } from 'node:test';
import type { Retention, Store } from '../../src/actors/store/index.ts';
import type { HasAfter } from '../support/temp-dir.ts';
import { auditCases } from './conformance/audit.ts';
import { boundsCases } from './conformance/bounds.ts';
import { fileCases } from './conformance/files.ts';
import { flowCases } from './conformance/flows.ts';
import { ordinalCases } from './conformance/ordinals.ts';
import { restorationCases } from './conformance/restoration.ts';
import { scheduleCases } from './conformance/schedules.ts';
import { viewCases } from './conformance/views.ts';
import { Feed } from './feed.ts';

/** A store of its own, not opened yet, and its wall clock. */
export type MakeStore = (t: HasAfter, retention: Retention, nowMs: () => number) => Store;

export interface StoreUnderTest {
  readonly store: Store;
  readonly feed: Feed;
  nowMs(): number;
  /** Moves the store's wall clock. */
  advance(ms: number): void;
}

/** `kept`: of a daemon that goes on. */
export type Case = (open: (retention?: Partial<Retention>, kept?: number) => StoreUnderTest) => void;
export type Cases = Readonly<Record<string, Case>>;

export const HOUR_MS = 3_600_000;

const ROOMY: Retention = {
  runs: 100,
  results: 100,
  resultTtlMs: 24 * HOUR_MS,
  fileBytes: 1e12,
  maxBytes: 1e9,
};

export function storeConformance(name: string, make: MakeStore): void {
  const open = (t: TestContext, retention: Partial<Retention>, kept: number): StoreUnderTest => {
    let now = 1_000_000;
    const nowMs = () => now;
    const store = make(t, { ...ROOMY, ...retention }, nowMs);
    t.after(() => store.close());
    store.open('boot-1', kept);
    const advance = (ms: number) => {
      now += ms;
    };
    return { store, feed: new Feed(store), nowMs, advance };
  };
  const parts = {
    ...viewCases,
    ...boundsCases,
    ...ordinalCases,
    ...fileCases,
    ...flowCases,
    ...restorationCases,
    ...scheduleCases,
    ...auditCases,
  };
  describe(`store: ${name}`, () => {
    for (const [title, run] of Object.entries(parts)) {
      test(title, (t) => run((retention = {}, kept = 0) => open(t, retention, kept)));
    }
  });
}
