import assert from 'node:assert/strict';
import { type TestContext as NodeTest, test } from 'node:test';
import type { ExecuteOrder, Outcome } from '../../src/actors/execution.ts';
import { type ActorDefinition, ActorSystem } from '../../src/actors/kernel/index.ts';
import { TestClock } from '../../src/actors/kernel/test-clock.ts';
import type { RunsMessages } from '../../src/actors/protocol.ts';
import type { Handler } from '../../src/workers/handler.ts';
import { ioActor } from '../../src/workers/io-pool/io-actor.ts';
import { IoPool } from '../../src/workers/io-pool/io-pool.ts';
import { Registry } from '../../src/workers/registry.ts';
import { gate, order, turn, turnsUntil } from './io-fixtures.ts';

interface Rig {
  readonly pool: IoPool;
  readonly clock: TestClock;
  readonly ready: ExecuteOrder[];
  readonly outcomes: Outcome[];
  /** Handlers between their start and their end. */
  readonly running: { now: number; most: number };
}

/** Pool and actor joined by the real kernel, on one thread. */
function rig(t: NodeTest, handlers: Readonly<Record<string, Handler>>, slots: number): Rig {
  const clock = new TestClock();
  const ready: ExecuteOrder[] = [];
  const outcomes: Outcome[] = [];
  const running = { now: 0, most: 0 };
  const builtIns = Object.entries(handlers).map(([name, handle]) => ({
    name,
    kind: 'io' as const,
    summary: '',
    inputSchema: {},
    perFile: false,
    pathKeys: [],
    handle: (async (input, context) => {
      running.most = Math.max(running.most, ++running.now);
      try {
        return await handle(input, context);
      } finally {
        running.now--;
      }
    }) satisfies Handler,
  }));
  const system = new ActorSystem({
    thread: 'main',
    placement: {},
    clock,
    onEscalate: (_actor, error) => assert.fail(String(error)),
  });
  const runs: ActorDefinition<RunsMessages> = {
    name: 'runs',
    mailbox: { capacity: 4, capacityBytes: 1 << 20, whenFull: 'block' },
    create: () => ({
      receive(envelope) {
        if (envelope.kind !== 'outcomes') return;
        for (const outcome of envelope.body.outcomes) pool.settle(outcome);
      },
    }),
  };
  system.spawn(runs);
  const registry = new Registry({ builtIns, modules: [] });
  const actor = system.spawn(ioActor({ name: 'io', registry, reportTo: 'runs', logTo: null }));
  const pool = new IoPool({
    name: 'io',
    actor,
    source: { peekTask: () => ready[0]?.task, take: () => ready.shift() },
    slots,
    graceMs: 100,
    clock,
    onOutcome: (outcome) => void outcomes.push(outcome),
    onStuck: (cause) => assert.fail(cause.message),
  });
  t.after(async () => {
    await pool.destroy();
    await system.close();
  });
  return { pool, clock, ready, outcomes, running };
}

test('a thousand orders through eight slots: each has one outcome, never more than eight run', async (t) => {
  const handlers: Readonly<Record<string, Handler>> = {
    step: async (input) => {
      const { n } = input as { n: number };
      if (n % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
      if (n % 5 === 0) throw new Error(`no ${n}`);
      return n;
    },
  };
  const { pool, ready, outcomes, running } = rig(t, handlers, 8);
  for (let n = 0; n < 1000; n++) ready.push(order(`r${n}`, { handler: 'step', input: `{"n":${n}}` }));
  pool.wake();
  await turnsUntil(() => outcomes.length >= 1000);
  assert.equal(new Set(outcomes.map(({ run }) => run)).size, 1000);
  assert.equal(outcomes.filter(({ status }) => status === 'failed').length, 200);
  assert.equal(running.most, 8);
  assert.equal(pool.active, 0);
});

test('R9: as many handlers that never settle as slots; the next order runs, and nothing is sent twice', async (t) => {
  const open = gate();
  const handlers: Readonly<Record<string, Handler>> = {
    never: () => new Promise(() => {}),
    late: () => open.passed,
    fine: () => 'fine',
  };
  const { pool, clock, ready, outcomes } = rig(t, handlers, 4);
  for (const run of ['a', 'b', 'c']) ready.push(order(run, { handler: 'never', timeoutMs: 500 }));
  ready.push(order('d', { handler: 'late', timeoutMs: 500 }), order('e', { handler: 'fine' }));
  pool.wake();
  await turn();
  await clock.advance(599);
  assert.equal(outcomes.length, 0);
  await clock.advance(10);
  assert.deepEqual(
    outcomes.map(({ run, status, error }) => [run, status, error?.code ?? null]),
    [
      ['a', 'failed', 'timeout'],
      ['b', 'failed', 'timeout'],
      ['c', 'failed', 'timeout'],
      ['d', 'failed', 'timeout'],
      ['e', 'success', null],
    ],
  );
  open.open();
  await clock.advance(1000);
  assert.equal(outcomes.length, 5);
  assert.equal(pool.lateOutcomes, 0);
  assert.equal(pool.active, 0);
});
