import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Delivery } from '../../src/actors/kernel/envelope.ts';
import { TestClock } from '../../src/actors/kernel/test-clock.ts';
import type { IoMessages } from '../../src/actors/protocol.ts';
import type { ExecuteOrder, Outcome } from '../../src/workers/handler.ts';
import { IoPool } from '../../src/workers/io-pool/io-pool.ts';
import { failed, stopped, succeeded } from '../../src/workers/outcomes.ts';
import { fakeRef, order } from './io-fixtures.ts';

/** What a scripted actor, its thread and the users do next. */
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('offer' as const), timeoutMs: fc.integer({ min: 1, max: 300 }) }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('succeed', 'fail', 'repeat'), at: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('cancel', 'forget'), at: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 200 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('refuse' as const), times: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lose' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('resize' as const), slots: fc.integer({ min: 1, max: 5 }) }),
  },
);

test('every order gets exactly one outcome, and slots are never exceeded, whatever the thread does', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const clock = new TestClock();
      const ready: ExecuteOrder[] = [];
      /** Orders the thread has; it may forget one, which then never answers by itself. */
      const thread: ExecuteOrder[] = [];
      const taken: ExecuteOrder[] = [];
      const outcomes: Outcome[] = [];
      const allowed = { slots: 3, refusals: 0 };
      const take = () => {
        const next = ready.shift();
        if (next === undefined) return undefined;
        assert.ok(pool.active < allowed.slots, `took order ${pool.active + 1} of ${allowed.slots}`);
        taken.push(next);
        return next;
      };
      const actor = fakeRef<IoMessages>('io', (kind, body) => {
        if (allowed.refusals > 0) {
          allowed.refusals--;
          return Delivery.Full;
        }
        if (kind === 'execute') thread.push(...(body as { orders: ExecuteOrder[] }).orders);
        if (kind === 'kill') {
          const held = thread.find(({ run }) => run === (body as { run: string }).run);
          if (held !== undefined) queueMicrotask(() => pool.settle(stopped(held, 'timeout', 1)));
        }
        return Delivery.Delivered;
      });
      const pool = new IoPool({
        name: 'io',
        actor,
        source: { peekTask: () => ready[0]?.task, take },
        slots: allowed.slots,
        graceMs: 50,
        clock,
        onOutcome: (outcome) => outcomes.push(outcome),
        onStuck: (cause) => queueMicrotask(() => pool.threadLost(cause)),
      });
      let runs = 0;
      for (const next of steps) {
        const chosen = 'at' in next && thread.length > 0 ? thread[next.at % thread.length]! : null;
        switch (next.do) {
          case 'offer':
            ready.push(order(`r${runs++}`, { timeoutMs: next.timeoutMs }));
            pool.wake();
            break;
          case 'succeed':
            if (chosen !== null) pool.settle(succeeded(chosen, '1', 1));
            break;
          case 'fail':
            if (chosen !== null) pool.settle(failed(chosen, new Error('no'), 1));
            break;
          case 'repeat':
            if (chosen !== null) for (let i = 0; i < 2; i++) pool.settle(succeeded(chosen, '1', 1));
            break;
          case 'cancel':
            if (chosen !== null) pool.abort(chosen.run, 'cancel');
            break;
          case 'forget':
            if (chosen !== null) thread.splice(thread.indexOf(chosen), 1);
            break;
          case 'wait':
            await clock.advance(next.ms);
            break;
          case 'refuse':
            allowed.refusals += next.times;
            break;
          case 'lose':
            thread.length = 0;
            pool.threadLost({ code: 'thread-lost', message: 'lost' });
            break;
          case 'resize':
            allowed.slots = next.slots;
            pool.resize(next.slots);
            break;
          default:
            assert.fail('unknown step');
        }
      }
      const drained = pool.drain();
      await clock.advance(2000);
      await drained;
      assert.equal(pool.active, 0);
      assert.deepEqual(outcomes.map(({ run }) => run).sort(), taken.map(({ run }) => run).sort());
      await pool.destroy();
      assert.equal(clock.timers, 0);
    }),
    { numRuns: 150 },
  );
});
