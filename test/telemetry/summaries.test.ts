import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestClock } from '../../src/actors/kernel/index.ts';
import type { LogRecord } from '../../src/actors/protocol.ts';
import { LineBudget } from '../../src/actors/telemetry/line-budget.ts';
import { Summaries } from '../../src/actors/telemetry/summaries.ts';

const line = (count: number): LogRecord => ({ level: 'info', atMs: 0, msg: `${count} more`, fields: null });

test('what a budget held back is told once, a second after the first, and counted', async () => {
  const clock = new TestClock();
  const told: string[] = [];
  const summaries = new Summaries(clock, ({ msg }) => told.push(msg));
  const budget = new LineBudget();
  for (let i = 0; i < 5; i++) if (!budget.take(0, 2)) summaries.add(budget, line);
  assert.ok(summaries.has(budget));
  await clock.advance(999);
  assert.deepEqual(told, []);
  await clock.advance(1);
  assert.deepEqual(told, ['3 more']);
  assert.deepEqual([summaries.has(budget), summaries.told, clock.timers], [false, 3, 0]);
});

test('messages beyond the bound share a budget', () => {
  const summaries = new Summaries(new TestClock(), () => {});
  const own = summaries.ownBudget('one');
  for (let i = 0; i < 1000; i++) summaries.ownBudget(`message ${i}`);
  assert.equal(summaries.ownBudget('one'), own);
  assert.equal(summaries.ownBudget('message 900'), summaries.ownBudget('never seen'));
});
