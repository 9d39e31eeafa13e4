import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestClock } from '../../src/actors/kernel/index.ts';
import type { HandlerContext } from '../../src/workers/handler.ts';
import { LOG_LINES_PER_SECOND, LogLimiter } from '../../src/workers/log-limiter.ts';
import { ActorProbe, order } from './io-fixtures.ts';

test('so many lines a second pass, the rest is told in one line when the second is over', async () => {
  const clock = new TestClock();
  const told: unknown[] = [];
  const limiter = new LogLimiter({ clock, thread: 'guest', write: ({ fields }) => told.push(fields) });
  const passed = (tries: number): number =>
    Array.from({ length: tries }, () => limiter.take()).filter(Boolean).length;
  assert.equal(passed(LOG_LINES_PER_SECOND), LOG_LINES_PER_SECOND);
  assert.equal(clock.timers, 0);
  await clock.advance(400);
  assert.equal(passed(1000), 0);
  await clock.advance(599);
  assert.deepEqual(told, []);
  await clock.advance(1);
  assert.deepEqual(told, [{ thread: 'guest', left_out: 1000, per_second: LOG_LINES_PER_SECOND }]);
  assert.equal(passed(1000), LOG_LINES_PER_SECOND);
  await clock.advance(1000);
  assert.deepEqual(told[1], { thread: 'guest', left_out: 800, per_second: LOG_LINES_PER_SECOND });
  assert.equal(clock.timers, 0);
});

test('the handlers of an io thread share one bound', async () => {
  const talk = (_input: unknown, context: HandlerContext): void => {
    for (let i = 0; i < LOG_LINES_PER_SECOND; i++) context.log.info('line');
  };
  const probe = new ActorProbe({ talk });
  await Promise.all(['r1', 'r2'].map((run) => probe.execute(order(run, { handler: 'talk' }))));
  assert.equal(probe.logs.length, LOG_LINES_PER_SECOND);
});
