import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ExecuteOrder, Outcome } from '../../src/actors/execution.ts';
import { Delivery } from '../../src/actors/kernel/envelope.ts';
import { TestClock } from '../../src/actors/kernel/test-clock.ts';
import type { IoMessages } from '../../src/actors/protocol.ts';
import { IoPool, LETTER_ORDERS, LETTER_TEXT } from '../../src/workers/io-pool/io-pool.ts';
import { failed, stopped, succeeded } from '../../src/workers/outcomes.ts';
import { fakeRef, order, turn } from './io-fixtures.ts';

/** What a scripted actor, its thread and the users do next. */
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('offer' as const),
      timeoutMs: fc.integer({ min: 1, max: 300 }),
      /** Orders offered together, and the length of the input of each. */
      count: fc.oneof(fc.constant(1), fc.integer({ min: 2, max: 200 })),
      inputLength: fc.oneof(fc.constant(2), fc.constantFrom(500, 30_000, LETTER_TEXT + 1)),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('succeed', 'fail', 'repeat'), at: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('cancel', 'cancel-taken', 'forget'), at: fc.nat() }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('turn' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 200 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('refuse' as const),
      times: fc.integer({ min: 1, max: 3 }),
      how: fc.constantFrom(Delivery.Full, Delivery.Closed, Delivery.Dropped),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lose' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('resize' as const),
      slots: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 100, max: 300 })),
    }),
  },
);

/** Within the bounds, of orders that were not sent before and have no outcome yet. */
function checkLetter(letter: readonly ExecuteOrder[], sent: Set<string>, outcomes: readonly Outcome[]): void {
  const text = letter.reduce((sum, { input }) => sum + input.length, 0);
  assert.ok(letter.length >= 1 && letter.length <= LETTER_ORDERS);
  assert.ok(text <= LETTER_TEXT || letter.length === 1);
  const ended = new Set(outcomes.map(({ run }) => run));
  for (const { run } of letter) {
    assert.ok(!sent.has(run) && !ended.has(run), run);
    sent.add(run);
  }
}

test('every order gets exactly one outcome, and slots are never exceeded, whatever the thread does', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(3, 250),
      fc.array(step, { maxLength: 60, size: 'max' }),
      async (slots, steps) => {
        const clock = new TestClock();
        const ready: ExecuteOrder[] = [];
        /** Orders the thread has; it may forget one, which then never answers by itself. */
        const thread: ExecuteOrder[] = [];
        const taken: ExecuteOrder[] = [];
        const outcomes: Outcome[] = [];
        const sent = new Set<string>();
        const allowed: { slots: number; refusals: number; how: Delivery } = {
          slots,
          refusals: 0,
          how: Delivery.Full,
        };
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
            return allowed.how;
          }
          if (kind === 'execute') {
            const { orders } = body as { readonly orders: readonly ExecuteOrder[] };
            checkLetter(orders, sent, outcomes);
            thread.push(...orders);
          }
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
          onOutcome: (outcome) => {
            outcomes.push(outcome);
            pool.wake();
          },
          onStuck: (cause) => queueMicrotask(() => pool.threadLost(cause)),
        });
        let runs = 0;
        for (const next of steps) {
          const chosen = 'at' in next && thread.length > 0 ? thread[next.at % thread.length]! : null;
          switch (next.do) {
            case 'offer':
              for (let i = 0; i < next.count; i++) {
                const input = 'x'.repeat(next.inputLength);
                ready.push(order(`r${runs++}`, { timeoutMs: next.timeoutMs, input }));
              }
              pool.wake();
              break;
            case 'turn':
              await turn();
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
            case 'cancel-taken':
              if (taken.length > 0) pool.abort(taken[next.at % taken.length]!.run, 'cancel');
              break;
            case 'forget':
              if (chosen !== null) thread.splice(thread.indexOf(chosen), 1);
              break;
            case 'wait':
              await clock.advance(next.ms);
              break;
            case 'refuse':
              allowed.refusals += next.times;
              allowed.how = next.how;
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
      },
    ),
    { numRuns: 300 },
  );
});
