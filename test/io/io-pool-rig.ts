/** An io pool alone, under a test clock: the test is its source, its actor and its thread. */

import type { ExecuteOrder, Outcome } from '../../src/actors/execution.ts';
import { Delivery } from '../../src/actors/kernel/envelope.ts';
import type { ErrorData } from '../../src/actors/kernel/errors.ts';
import { TestClock } from '../../src/actors/kernel/test-clock.ts';
import type { IoMessages } from '../../src/actors/protocol.ts';
import { IoPool } from '../../src/workers/io-pool/io-pool.ts';
import type { IoPoolOptions } from '../../src/workers/io-pool/io-pool-options.ts';
import { fakeRef, type Sent } from './io-fixtures.ts';

export interface Rig {
  readonly pool: IoPool;
  readonly clock: TestClock;
  readonly ready: ExecuteOrder[];
  readonly sent: Sent[];
  readonly outcomes: Outcome[];
  readonly stuck: ErrorData[];
  /** What the actor answers next; `Delivered` when empty. */
  readonly answers: Delivery[];
}

/** A pool whose actor only keeps what it is sent. Two slots, a grace of 100 ms. */
export function rig(over: Partial<IoPoolOptions> = {}): Rig {
  const clock = new TestClock();
  const ready: ExecuteOrder[] = [];
  const sent: Sent[] = [];
  const outcomes: Outcome[] = [];
  const stuck: ErrorData[] = [];
  const answers: Delivery[] = [];
  const actor = fakeRef<IoMessages>('io', (kind, body) => {
    const answer = answers.shift() ?? Delivery.Delivered;
    if (answer === Delivery.Delivered) sent.push({ kind, body });
    return answer;
  });
  const pool = new IoPool({
    name: 'io',
    actor,
    source: { peekTask: () => ready[0]?.task, take: () => ready.shift() },
    slots: 2,
    graceMs: 100,
    clock,
    onOutcome: (outcome) => outcomes.push(outcome),
    onStuck: (cause) => stuck.push(cause),
    ...over,
  });
  return { pool, clock, ready, sent, outcomes, stuck, answers };
}
