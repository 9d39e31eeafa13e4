import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { ActorSystem, ColibriError, systemClock, TestClock } from '../../src/actors/kernel/index.ts';
import type { RunsMessages, TelemetryMessages } from '../../src/actors/protocol.ts';
import { telemetryActor } from '../../src/actors/telemetry/index.ts';
import type { HasAfter } from '../support/temp-dir.ts';
import { event, FakeDevice, type Rig, rig, runtimeView } from './fixtures.ts';

const metrics = { host: '127.0.0.1', port: 0 };

function ask(
  port: number,
  path: string,
  method = 'GET',
): Promise<{ status: number; text: string; type: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, path, method, agent: false }, (response) => {
      let text = '';
      response.on('data', (piece) => {
        text += piece;
      });
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, text, type: response.headers['content-type'] ?? '' });
      });
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

async function open(t: HasAfter, opened: Rig): Promise<number> {
  t.after(() => opened.behaviour.stop?.());
  const reply = (await opened.send('open', null)) as { metrics: { port: number } };
  return reply.metrics.port;
}

test('the page, the port in the log, health and readiness', async (t) => {
  const telemetry = rig(new TestClock(), { metrics });
  const port = await open(t, telemetry);
  assert.deepEqual(await telemetry.send('open', null), { metrics: { host: '127.0.0.1', port } });
  await telemetry.send('runs', { events: [event({ durationMs: 3 })] });
  const page = await ask(port, '/metrics?x=1');
  assert.equal(page.status, 200);
  assert.match(page.type, /^text\/plain; version=0\.0\.4/);
  assert.ok(page.text.includes('\ncolibri_runs_total{result="success",task="hash"} 1\n'));
  assert.ok(page.text.includes('\ncolibri_queue_depth{queue="ready"} 3\n'));
  assert.deepEqual((await ask(port, '/healthz')).text, 'ok\n');
  assert.deepEqual((await ask(port, '/readyz')).text, 'ready\n');
  const line = (await telemetry.lines()).find(({ msg }) => msg === 'metrics listening');
  assert.equal(line?.port, port);
});

test('only GET, and only what there is', async (t) => {
  const port = await open(t, rig(new TestClock(), { metrics }));
  assert.equal((await ask(port, '/metrics', 'POST')).status, 405);
  assert.equal((await ask(port, '/metrics', 'DELETE')).status, 405);
  assert.equal((await ask(port, '/etc/passwd')).status, 404);
});

test('main that does not answer: /healthz says so, /metrics shows the rest', async (t) => {
  let asked = 0;
  const stuck = async () => {
    asked++;
    throw new ColibriError('ask-timeout', 'expected an answer within 1000 ms');
  };
  const port = await open(t, rig(new TestClock(), { metrics }, stuck));
  const health = await ask(port, '/healthz');
  assert.equal(health.status, 503);
  assert.match(health.text, /main thread does not answer: expected an answer within 1000 ms/);
  assert.equal((await ask(port, '/readyz')).status, 503);
  const page = await ask(port, '/metrics');
  assert.ok(page.text.includes('\ncolibri_main_answers 0\n'));
  assert.equal(asked, 3);
});

test('among real actors: main that never answers is told by /healthz after a second', async (t) => {
  const clock = new TestClock();
  const system = new ActorSystem({ thread: 'main', placement: {}, clock, onEscalate: () => {} });
  t.after(() => system.close());
  const asked = Promise.withResolvers<void>();
  system.spawn<RunsMessages>({
    name: 'runs',
    mailbox: { capacity: 4, capacityBytes: 1000, whenFull: 'reject' },
    create: () => ({ receive: () => asked.resolve() }),
  });
  system.spawn(
    telemetryActor({
      log: { level: 'silent', file: null, maxBytes: 1, keepDays: 1, pretty: false, colours: false },
      metrics,
      configVersion: null,
      tasks: [],
      device: new FakeDevice(),
    }),
  );
  const telemetry = system.ref<TelemetryMessages>('telemetry');
  const opened = await telemetry.ask('open', null);
  const health = ask(opened.metrics!.port, '/healthz');
  await asked.promise;
  await clock.advance(1100);
  assert.equal((await health).status, 503);
});

test('watchers that come while main is asked share the answer', async (t) => {
  let asked = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const slow = async () => {
    asked++;
    await promise;
    return runtimeView();
  };
  const port = await open(t, rig(new TestClock(), { metrics }, slow));
  const answers = [ask(port, '/healthz'), ask(port, '/healthz')];
  const third = ask(port, '/nothing');
  await third;
  resolve();
  for (const { status } of await Promise.all(answers)) assert.equal(status, 200);
  assert.ok(asked <= 2);
});

test('readiness: not while the journal cannot be written, which is no reason to restart', async (t) => {
  let reason: string | null = 'the disk is full';
  const view = async () => runtimeView({ store: { kind: 'sqlite', writable: false, unrecorded: 1, reason } });
  const port = await open(t, rig(new TestClock(), { metrics }, view));
  const ready = () => ask(port, '/readyz').then(({ status, text }) => [status, text]);
  assert.deepEqual(await ready(), [503, 'the journal cannot be written: the disk is full\n']);
  assert.equal((await ask(port, '/healthz')).status, 200);
  reason = null;
  assert.deepEqual(await ready(), [503, 'the journal cannot be written: the reason is not known\n']);
});

test('readiness: not before ready, not while stopping', async (t) => {
  let view = runtimeView({ readyMs: null });
  const port = await open(
    t,
    rig(new TestClock(), { metrics }, async () => view),
  );
  assert.deepEqual(await ask(port, '/readyz').then(({ status, text }) => [status, text]), [
    503,
    'starting\n',
  ]);
  view = runtimeView({ stopping: true });
  assert.deepEqual(await ask(port, '/readyz').then(({ status, text }) => [status, text]), [
    503,
    'stopping\n',
  ]);
  assert.equal((await ask(port, '/healthz')).status, 200);
});

test('a port that is taken stops the start with a remedy', async (t) => {
  const port = await open(t, rig(new TestClock(), { metrics }));
  const second = rig(systemClock, { metrics: { host: '127.0.0.1', port } });
  t.after(() => second.behaviour.stop?.());
  await assert.rejects(second.send('open', null), {
    code: 'listen-failed',
    message: new RegExp(`127\\.0\\.0\\.1:${port}.*EADDRINUSE.*set metrics\\.listen`),
  });
});

test('without an address nothing listens', async (t) => {
  const telemetry = rig(new TestClock());
  t.after(() => telemetry.behaviour.stop?.());
  assert.deepEqual(await telemetry.send('open', null), { metrics: null });
});
