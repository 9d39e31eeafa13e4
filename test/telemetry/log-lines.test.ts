import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ActorSystem, TestClock } from '../../src/actors/kernel/index.ts';
import { prettyLine } from '../../src/actors/telemetry/pretty.ts';
import { telemetryActor } from '../../src/actors/telemetry/telemetry-actor.ts';
import { event, FakeDevice, rig } from './fixtures.ts';

test('each end of a run makes one line of the published shape', async () => {
  const { send, lines } = rig(new TestClock());
  await send('runs', {
    events: [
      event({ state: 'pending' }),
      event({ state: 'ready' }),
      event({ state: 'running', lagMs: 1.23456 }),
      event({ durationMs: 12.34567 }),
      event({
        state: 'retrying',
        durationMs: 5,
        dueAtMs: Date.UTC(2026, 0, 1, 0, 0, 2),
        error: { code: 'timeout', message: 'too long', stack: 'at x' },
      }),
      event({
        state: 'failed',
        attempt: 3,
        durationMs: 5,
        error: {
          code: 'handler-failed',
          message: 'boom',
          stack: 'Error: boom',
          cause: { code: 'internal', message: 'why' },
        },
      }),
      event({ state: 'skipped' }),
      event({ state: 'skipped', asked: true }),
      event({ state: 'cancelled' }),
    ],
  });
  const base = { time: '2026-01-01T00:00:00.000Z', task: 'hash', run: 'hash@1', attempt: 1 };
  assert.deepEqual(await lines(), [
    { level: 'debug', ...base, lag_ms: 1.235, msg: 'run started' },
    { level: 'info', ...base, result: 'success', duration_ms: 12.346, msg: 'run succeeded' },
    {
      level: 'warn',
      ...base,
      result: 'retrying',
      duration_ms: 5,
      due: '2026-01-01T00:00:02.000Z',
      error: { code: 'timeout', message: 'too long' },
      msg: 'run will be retried',
    },
    {
      level: 'error',
      ...base,
      attempt: 3,
      result: 'failed',
      duration_ms: 5,
      error: {
        code: 'handler-failed',
        message: 'boom',
        cause: { code: 'internal', message: 'why' },
        stack: 'Error: boom',
      },
      msg: 'run failed',
    },
    { level: 'info', ...base, result: 'skipped', msg: 'run skipped' },
    { level: 'warn', ...base, result: 'skipped', msg: 'run skipped' },
    { level: 'warn', ...base, result: 'cancelled', msg: 'run cancelled' },
  ]);
});

test('the level is a threshold for runs and for records; silent is nothing', async () => {
  const log = { file: null, maxBytes: 1e6, keepDays: 1, pretty: false, colours: false } as const;
  const warn = rig(new TestClock(), { log: { ...log, level: 'warn' } });
  const records = ['debug', 'info', 'warn', 'error'] as const;
  for (const level of records) await warn.send('log', { level, atMs: 0, msg: level, fields: null });
  await warn.send('runs', { events: [event(), event({ state: 'failed' })] });
  assert.deepEqual(
    (await warn.lines()).map(({ msg }) => msg),
    ['warn', 'error', 'run failed'],
  );
  const silent = rig(new TestClock(), { log: { ...log, level: 'silent' } });
  for (const level of records) await silent.send('log', { level, atMs: 0, msg: level, fields: null });
  assert.deepEqual(await silent.lines(), []);
});

test('fields of a handler cannot stand for those of the line', async () => {
  const { send, lines } = rig(new TestClock());
  const fields = { task: 'hash', level: 'x', time: 'y', msg: 'z', nested: { a: [1] }, nan: Number.NaN };
  await send('log', { level: 'info', atMs: 0, msg: '100 %d', fields });
  assert.deepEqual(await lines(), [
    {
      level: 'info',
      time: '1970-01-01T00:00:00.000Z',
      task: 'hash',
      level_: 'x',
      time_: 'y',
      msg_: 'z',
      nested: { a: [1] },
      nan: null,
      msg: '100 %d',
    },
  ]);
});

test('a line that is too long is told, not written', async () => {
  const { send, lines } = rig(new TestClock());
  await send('log', {
    level: 'info',
    atMs: 0,
    msg: 'big',
    fields: { task: 'hash', blob: 'x'.repeat(100_000) },
  });
  const [line, ...more] = await lines();
  assert.equal(more.length, 0);
  assert.equal(line?.msg, 'big');
  assert.equal(line?.task, 'hash');
  assert.ok(Number(line?.characters_cut) > 100_000);
  assert.equal(line?.blob, undefined);
});

test('a flood of like lines is summed up once a second, and other tasks are not touched', async () => {
  const clock = new TestClock();
  const { send, lines, device } = rig(clock);
  await send('runs', { events: Array.from({ length: 1000 }, () => event()) });
  await send('runs', { events: [event({ task: 'copy' }), event({ state: 'failed' })] });
  await clock.advance(1000);
  const first = await lines();
  assert.equal(first.filter(({ msg, task }) => msg === 'run succeeded' && task === 'hash').length, 20);
  assert.equal(first.filter(({ msg, task }) => msg === 'run succeeded' && task === 'copy').length, 1);
  assert.equal(first.filter(({ msg }) => msg === 'run failed').length, 1);
  const summaries = first.filter(({ summarised }) => summarised === true);
  assert.deepEqual(summaries, [
    {
      level: 'info',
      time: '2026-01-01T00:00:01.000Z',
      task: 'hash',
      result: 'success',
      count: 980,
      summarised: true,
      msg: 'runs succeeded',
    },
  ]);
  device.text = '';
  await send('runs', { events: [event()] });
  assert.deepEqual(
    (await lines()).map(({ msg }) => msg),
    ['run succeeded'],
  );
  assert.equal(clock.timers, 0);
});

test('the lines of a handler have a budget of their own, by task and not by text', async () => {
  const clock = new TestClock();
  const { send, lines } = rig(clock);
  for (let i = 0; i < 150; i++) {
    await send('log', { level: 'info', atMs: 0, msg: `item ${i}`, fields: { task: 'hash' } });
  }
  const written = await lines();
  assert.equal(written.filter(({ msg }) => String(msg).startsWith('item ')).length, 100);
  assert.equal(written.find(({ summarised }) => summarised === true)?.count, 50);
});

test('a readable line: colours on demand, no control character of a user', () => {
  const record = {
    level: 'error',
    atMs: new Date(2026, 0, 1, 15, 4, 5, 6).getTime(),
    msg: 'run failed',
    fields: {
      task: 'hash',
      run: 'r 1',
      attempt: 1,
      result: 'failed',
      duration_ms: 3,
      error: { code: 'timeout', message: 'a\x1b[31m\nb' },
    },
  } as const;
  assert.equal(
    prettyLine(record, false),
    '15:04:05.006 ERROR hash run failed run="r 1" duration_ms=3 error=timeout "a\\u001b[31m\\nb"\n',
  );
  const coloured = prettyLine(record, true);
  assert.ok(coloured.includes('\x1b[31mERROR\x1b[0m'));
  assert.ok(!coloured.includes('a\x1b'));
});

test('a flood of log lines takes no run event and no question from the actor', async () => {
  const device = new FakeDevice();
  const system = new ActorSystem({
    thread: 'main',
    placement: {},
    onEscalate: (_actor, error) => assert.fail(String(error)),
  });
  const telemetry = system.spawn(
    telemetryActor({
      log: { level: 'info', file: null, maxBytes: 1e6, keepDays: 1, pretty: false, colours: false },
      metrics: null,
      configVersion: null,
      tasks: ['hash'],
      device,
    }),
  );
  const flood = (): void => {
    for (let i = 0; i < 3000; i++) {
      telemetry.tryTell('log', { level: 'info', atMs: 0, msg: 'flood', fields: null });
    }
  };
  flood();
  const opened = telemetry.ask('open', null);
  const told: Promise<void>[] = [];
  for (let i = 0; i < 4000; i++) told.push(telemetry.tell('runs', { events: [event()] }));
  flood();
  await Promise.all([...told, opened]);
  await telemetry.ask('flush', null);
  const ends = device.lines.filter(({ result }) => result === 'success');
  const counted = ends.reduce((sum, line) => sum + (typeof line.count === 'number' ? line.count : 1), 0);
  assert.equal(counted, 4000);
  assert.equal(system.undeliverable.counts.dropped, system.mailboxes()[0]?.dropped);
  assert.ok(system.undeliverable.counts.dropped > 0);
  await system.close();
});

test('a flood of printed texts, each another one, takes nothing from the lines of the daemon itself', async () => {
  const clock = new TestClock();
  const { send, lines } = rig(clock);
  const atMs = clock.wallMs();
  for (let index = 0; index < 5000; index++) {
    const fields = { thread: 'guest', printed: true };
    await send('log', { level: 'info', atMs, msg: `printed line ${index}`, fields });
  }
  await send('log', { level: 'warn', atMs, msg: 'too many log lines', fields: { thread: 'guest' } });
  await clock.advance(10_000);
  const written = (await lines()) as unknown as readonly { msg: string; count?: number }[];
  assert.equal(written.filter(({ msg }) => msg.startsWith('printed line')).length, 100);
  assert.equal(written.filter(({ msg }) => msg === 'too many log lines').length, 1);
  assert.equal(written.find(({ msg }) => msg === 'more printed lines')?.count, 4900);
});
