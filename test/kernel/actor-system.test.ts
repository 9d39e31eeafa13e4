import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ActorContext,
  type ActorDefinition,
  ActorSystem,
  type ActorSystemOptions,
  type Answer,
  ColibriError,
  type Envelope,
  type MailboxPolicy,
  type Messages,
  TestClock,
  UndeliverableReason,
} from '../../src/actors/kernel/index.ts';

const ROOMY: MailboxPolicy = { capacity: 1000, capacityBytes: 1 << 20, whenFull: 'block' };

interface Escalation {
  readonly actor: string;
  readonly error: unknown;
}

function setUp(options: Partial<ActorSystemOptions> = {}) {
  const clock = new TestClock();
  const escalations: Escalation[] = [];
  const undeliverable: string[] = [];
  const system = new ActorSystem({
    thread: 'main',
    placement: {},
    clock,
    onEscalate: (actor, error) => escalations.push({ actor, error }),
    onUndeliverable: (envelope, reason) => undeliverable.push(`${envelope.kind} ${reason}`),
    ...options,
  });
  return { clock, system, escalations, undeliverable };
}

type Receive = (envelope: Envelope, answer: Answer) => void | Promise<void>;

function actor(name: string, receive: Receive, more: Partial<ActorDefinition> = {}): ActorDefinition {
  return { name, mailbox: ROOMY, create: () => ({ receive }), ...more };
}

const nextLoop = () => new Promise<void>((resolve) => setImmediate(resolve));

test('one message at a time, in order, also where receive waits', async () => {
  const { system } = setUp();
  const seen: string[] = [];
  const gate = Promise.withResolvers<void>();
  const ref = system.spawn(
    actor('a', async ({ body }) => {
      seen.push(`begin ${body}`);
      if (body === 1) await gate.promise;
      seen.push(`end ${body}`);
    }),
  );
  for (const body of [1, 2, 3]) ref.tryTell('go', body);
  await nextLoop();
  assert.deepEqual(seen, ['begin 1']);
  gate.resolve();
  await system.close();
  assert.deepEqual(seen, ['begin 1', 'end 1', 'begin 2', 'end 2', 'begin 3', 'end 3']);
});

test('actors that feed each other without end leave the event loop its turn', async () => {
  const { system } = setUp();
  let passed = 0;
  let going = true;
  for (const [name, to] of [
    ['ping', 'pong'],
    ['pong', 'ping'],
  ] as const) {
    system.spawn({
      name,
      mailbox: ROOMY,
      create: (context) => {
        const other = context.ref<Messages>(to);
        return {
          receive() {
            passed++;
            if (going) other.tryTell('ball', null);
          },
        };
      },
    });
  }
  system.ref<Messages>('ping').tryTell('ball', null);
  for (let loop = 0; loop < 10; loop++) await nextLoop();
  assert.ok(passed > 256, `expected many passes, got ${passed}`);
  going = false;
  await system.close();
});

test('one busy actor does not keep the others waiting', async () => {
  const { system } = setUp();
  const handled: string[] = [];
  const receive: Receive = ({ to }) => void handled.push(to);
  const busy = system.spawn(actor('busy', receive));
  const calm = system.spawn(actor('calm', receive));
  for (let i = 0; i < 900; i++) busy.tryTell('go', null);
  calm.tryTell('go', null);
  await system.close();
  assert.equal(handled.length, 901);
  assert.ok(handled.indexOf('calm') <= 256);
});

test('ask: an answer, an error with its code, an answer that is put off, and only the first counts', async () => {
  const { system } = setUp();
  let later: Answer | undefined;
  const ref = system.spawn(
    actor('a', ({ kind }, answer) => {
      if (kind === 'later') later = answer;
      if (kind === 'bad') answer.fail(new ColibriError('no-such-run', 'expected a run, got none'));
      if (kind === 'good') answer.ok(1);
      answer.ok(kind === 'good' ? 2 : undefined);
      if (kind === 'later') assert.fail('later answers are tested below');
    }),
  );
  await assert.rejects(ref.ask('bad', null), { code: 'no-such-run', name: 'ColibriError' });
  assert.equal(await ref.ask('good', null), 1);
  assert.equal(later, undefined);
  await system.close();
});

test('an answer may be given long after receive returned', async () => {
  const { system } = setUp();
  const answers: Answer[] = [];
  const ref = system.spawn(actor('a', (_envelope, answer) => void answers.push(answer)));
  const asked = [ref.ask('one', null), ref.ask('two', null)];
  await nextLoop();
  answers[1]!.ok('second');
  answers[0]!.ok('first');
  assert.deepEqual(await Promise.all(asked), ['first', 'second']);
  const open = assert.rejects(ref.ask('three', null), { code: 'mailbox-closed' });
  await nextLoop();
  await system.close();
  await open;
});

test('a question that is not answered is rejected at its deadline, not before', async () => {
  const { system, clock, undeliverable } = setUp();
  const ref = system.spawn(actor('a', () => {}));
  const codes: string[] = [];
  const note = (name: string) => (error: ColibriError) => codes.push(`${name} ${error.code}`);
  void ref.ask('slow', null).catch(note('default'));
  void ref.ask('slow', null, { timeoutMs: 100 }).catch(note('short'));
  void ref.ask('slow', null, { timeoutMs: null }).catch(note('endless'));
  await clock.advance(99);
  assert.deepEqual(codes, []);
  await clock.advance(1);
  assert.deepEqual(codes, ['short ask-timeout']);
  await clock.advance(4899);
  assert.equal(codes.length, 1);
  await clock.advance(10);
  assert.deepEqual(codes.slice(1), ['default ask-timeout']);
  clock.stepWall(86_400_000);
  await clock.advance(86_400_000);
  assert.equal(system.pendingAsks, 1);
  await system.close();
  assert.deepEqual(codes.slice(2), ['endless mailbox-closed']);
  assert.equal(clock.timers, 0);
  assert.deepEqual(undeliverable, ['reply late-reply', 'reply late-reply'], 'the two that came too late');
});

test('a behaviour that throws is made anew, its mailbox kept, its questions answered', async () => {
  const { system, undeliverable } = setUp();
  const lives: string[] = [];
  const ref = system.spawn({
    name: 'a',
    mailbox: ROOMY,
    create() {
      lives.push('created');
      const life = lives.filter((entry) => entry === 'created').length;
      return {
        receive(envelope, answer) {
          if (envelope.kind === 'wait') return;
          if (envelope.kind === 'throw') throw new Error('boom');
          if (envelope.kind === 'reject') return Promise.reject(new ColibriError('timeout', 'too long'));
          answer.ok(life);
          return;
        },
        stop: () => void lives.push('stopped'),
      };
    },
  });
  const answers = await Promise.allSettled(
    ['life', 'wait', 'throw', 'life', 'reject', 'life'].map((kind) => ref.ask(kind, null)),
  );
  assert.deepEqual(
    answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : answer.reason.code)),
    [1, 'internal', 'internal', 2, 'timeout', 3],
  );
  assert.deepEqual(lives, ['created', 'stopped', 'created', 'stopped', 'created']);
  assert.deepEqual(undeliverable, ['throw actor-failed', 'reject actor-failed']);
  assert.equal(system.mailboxes()[0]?.restarts, 2);
  await system.close();
  assert.equal(lives.at(-1), 'stopped');
});

test('more failures than the intensity allows close the actor and are passed up', async () => {
  const { system, clock, escalations, undeliverable } = setUp();
  const failing = actor('a', () => {
    throw new Error('boom');
  });
  const ref = system.spawn({ ...failing, restart: { maxRestarts: 2, withinMs: 1000 } });
  ref.tryTell('one', null);
  ref.tryTell('two', null);
  await nextLoop();
  await clock.advance(1000);
  assert.equal(escalations.length, 0);
  for (const kind of ['three', 'four', 'five', 'six']) ref.tryTell(kind, null);
  const asked = assert.rejects(ref.ask('seven', null), { code: 'mailbox-closed' });
  await nextLoop();
  await asked;
  assert.deepEqual(
    escalations.map(({ actor: name, error }) => [name, (error as Error).message]),
    [['a', 'boom']],
  );
  assert.deepEqual(undeliverable.slice(-3), [
    'five actor-failed',
    'six mailbox-closed',
    'seven mailbox-closed',
  ]);
  assert.equal(ref.tryTell('late', null), 'closed');
  await assert.rejects(ref.tell('late', null), { code: 'mailbox-closed' });
  await system.close();
});

test('a behaviour that cannot be made anew uses up the intensity', async () => {
  const { system, escalations } = setUp();
  let lives = 0;
  const ref = system.spawn({
    name: 'a',
    mailbox: ROOMY,
    create() {
      if (lives++ > 0) throw new Error('cannot start');
      return {
        receive() {
          throw new Error('boom');
        },
      };
    },
  });
  ref.tryTell('go', null);
  await nextLoop();
  assert.equal(lives, 4);
  assert.match(String(escalations[0]?.error), /cannot start/);
  await system.close();
});

test('a full mailbox: block waits, reject refuses, drops are counted and their questions answered', async () => {
  const { system, undeliverable } = setUp();
  const gates: (() => void)[] = [];
  const held: Receive = () => new Promise((resolve) => gates.push(resolve));
  const small = (whenFull: MailboxPolicy['whenFull']): MailboxPolicy => ({ ...ROOMY, capacity: 1, whenFull });
  const refs = (['block', 'reject', 'drop-oldest'] as const).map((policy) =>
    system.spawn(actor(policy, held, { mailbox: small(policy) })),
  );
  const [block, reject, dropOldest] = refs;
  for (const ref of refs) ref.tryTell('held', null);
  await nextLoop();
  for (const ref of refs) assert.equal(ref.tryTell('inside', null), 'delivered');
  assert.equal(block!.tryTell('more', null), 'full');
  let waited = false;
  const waiting = block!.tell('waits', null).then(() => {
    waited = true;
  });
  await assert.rejects(reject!.tell('more', null), { code: 'mailbox-full' });
  await assert.rejects(reject!.ask('more', null), { code: 'mailbox-full' });
  assert.equal(dropOldest!.tryTell('newer', null), 'delivered');
  const asked = assert.rejects(dropOldest!.ask('asked', null), { code: 'mailbox-full' });
  await dropOldest!.tell('newest', null);
  await asked;
  assert.deepEqual(undeliverable, ['inside dropped', 'newer dropped', 'asked dropped']);
  assert.equal(waited, false);
  const closed = system.close();
  const pump = setInterval(() => gates.shift()?.(), 1);
  await Promise.all([waiting, closed]);
  clearInterval(pump);
});

test('undeliverable messages are counted, the last hundred kept, long bodies cut', async () => {
  const { system } = setUp();
  const ref = system.spawn(
    actor('a', () => {}, { mailbox: { ...ROOMY, capacity: 1, whenFull: 'drop-oldest' } }),
  );
  for (let i = 0; i < 150; i++) ref.tryTell('item', i);
  ref.tryTell('item', 'x'.repeat(100_000));
  ref.tryTell('item', null);
  const { undeliverable } = system;
  assert.equal(undeliverable.counts[UndeliverableReason.Dropped], 151);
  const kept = undeliverable.recent();
  assert.equal(kept.length, 100);
  assert.equal(kept[0]?.envelope.body, 51);
  assert.match(String(kept[99]?.envelope.body), /^\[about 100\d\d\d bytes, cut\]$/);
  await system.close();
});

test('messages that crossed a thread are checked; a bad one is refused, its credit given back once', async () => {
  const replies: string[] = [];
  const remote = {
    trySend: () => 'delivered' as const,
    send: async (_thread: string, text: string) => void replies.push(text),
  };
  const { system, undeliverable } = setUp({ remote });
  const seen: unknown[] = [];
  const checks = { number: (body: unknown) => typeof body === 'number' };
  system.spawn(actor('a', ({ body }, answer) => answer.ok(seen.push(body) > 0 ? body : null), { checks }));
  const consumed: number[] = [];
  const deliver = (kind: string, body: unknown, to = 'a') => {
    const id = consumed.push(0) - 1;
    const address = {
      id,
      kind,
      from: 'far',
      to,
      thread: 'far',
      deadlineAtMs: null,
      attempt: 1,
      question: true,
      body,
    };
    system.deliver(address, 10, () => consumed[id]!++);
  };
  deliver('number', 5);
  deliver('number', 'five');
  deliver('constructor', 'no check for this');
  deliver('number', 5, 'nobody');
  await nextLoop();
  assert.deepEqual(seen, [5, 'no check for this']);
  assert.deepEqual(consumed, [1, 1, 1, 1]);
  assert.deepEqual(undeliverable, ['number message-invalid', 'number no-such-actor']);
  const answers = replies.map((text) => JSON.parse(text)).sort((a, b) => a.correlation - b.correlation);
  assert.deepEqual(
    answers.map(({ reply }) => reply.value ?? reply.error.code),
    [5, 'message-invalid', 'no check for this', 'mailbox-closed'],
  );
  await system.close();
});

test('close drains what is inside, lets actors send each other, refuses from outside, stops in reverse', async () => {
  const { system } = setUp();
  const log: string[] = [];
  const make = (name: string, to: string | null): ActorDefinition => ({
    name,
    mailbox: ROOMY,
    create: (context) => ({
      receive({ kind }) {
        log.push(`${name} ${kind}`);
        if (to !== null) context.ref(to).tryTell(`${kind} of ${name}`, null);
      },
      stop() {
        log.push(`${name} stopped`);
        if (to !== null) context.ref(to).tryTell(`farewell of ${name}`, null);
      },
    }),
  });
  system.spawn(make('store', null));
  const ref = system.spawn(make('runs', 'store'));
  ref.tryTell('event', null);
  const closing = system.close();
  assert.equal(system.close(), closing);
  assert.equal(ref.tryTell('late', null), 'closed');
  await closing;
  assert.deepEqual(log, [
    'runs event',
    'store event of runs',
    'runs stopped',
    'store farewell of runs',
    'store stopped',
  ]);
  assert.throws(() => system.spawn(make('new', null)), { code: 'internal' });
});

test('what comes while an actor stops is refused and not handled; its questions are answered', async () => {
  const { system } = setUp();
  const stopping = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  let fromInside: ActorContext | null = null;
  system.spawn({
    name: 'neighbour',
    mailbox: ROOMY,
    create(context) {
      fromInside = context;
      return { receive() {} };
    },
  });
  system.spawn({
    name: 'a',
    mailbox: ROOMY,
    create: () => ({
      receive() {},
      stop() {
        stopping.resolve();
        return gate.promise;
      },
    }),
  });
  const closing = system.close();
  await stopping.promise;
  const ref = fromInside!.ref<Messages>('a');
  assert.equal(ref.tryTell('late', null), 'closed');
  await assert.rejects(ref.tell('late', null), { code: 'mailbox-closed' });
  await assert.rejects(ref.ask('late', null), { code: 'mailbox-closed' });
  gate.resolve();
  await closing;
  const { handled, refused } = system.mailboxes().find(({ actor: name }) => name === 'a')!;
  assert.deepEqual({ handled, refused: refused.closed }, { handled: 0, refused: 3 });
});

test('above its high water a mailbox drops what is expendable, and the rest has room', async () => {
  const { system, undeliverable } = setUp();
  const seen: string[] = [];
  const mailbox: MailboxPolicy = { ...ROOMY, capacity: 8, highWater: 0.5, lowWater: 0.25 };
  const definition = actor('a', ({ kind }) => void seen.push(kind), { mailbox, expendable: ['log'] });
  const ref = system.spawn(definition);
  const consumed: string[] = [];
  const answers = Array.from({ length: 6 }, () => ref.tryTell('log', null));
  assert.deepEqual(answers, [...Array(4).fill('delivered'), 'dropped', 'dropped']);
  void ref.tell('log', null);
  const crossing = { ...({ id: 1, kind: 'log', from: 'far', to: 'a', thread: 'far' } as const), attempt: 1 };
  system.deliver({ ...crossing, deadlineAtMs: null, question: false, body: null }, 1, () => {
    consumed.push('log');
  });
  for (let i = 0; i < 4; i++) assert.equal(ref.tryTell('runs', null), 'delivered');
  assert.equal(ref.tryTell('runs', null), 'full');
  assert.deepEqual(undeliverable, Array(4).fill('log dropped'));
  assert.deepEqual(consumed, ['log']);
  await nextLoop();
  assert.equal(ref.tryTell('log', null), 'delivered');
  await system.close();
  assert.deepEqual(seen, [...Array(4).fill('log'), ...Array(4).fill('runs'), 'log']);
});

test('a name in use, or placed on another thread, is not spawned', async () => {
  const { system } = setUp({ placement: { far: 'service' } });
  system.spawn(actor('a', () => {}));
  assert.throws(() => system.spawn(actor('a', () => {})), { code: 'internal' });
  assert.throws(() => system.spawn(actor('far', () => {})), /placed on thread main, got thread service/);
  assert.equal(system.ref<Messages>('far').tryTell('go', null), 'closed');
  await assert.rejects(system.ref<Messages>('nobody').ask('go', null), { code: 'mailbox-closed' });
  await system.close();
});

test('watermarks of an actor pause and resume its upstream', async () => {
  const { system } = setUp();
  const ref = system.spawn(actor('a', () => {}, { mailbox: { ...ROOMY, capacity: 10 } }));
  const marks: string[] = [];
  system.onWatermark('a', (mark) => marks.push(mark));
  for (let i = 0; i < 9; i++) ref.tryTell('go', null);
  assert.deepEqual(marks, ['high']);
  await nextLoop();
  assert.deepEqual(marks, ['high', 'low']);
  await system.close();
});
