import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ColibriError, Delivery, Mailbox, type MailboxPolicy } from '../../src/actors/kernel/index.ts';

interface Sent {
  readonly id: number;
  readonly bytes: number;
}

/** A mailbox as one would write it without a care for cost. */
class Model {
  readonly queue: Sent[] = [];
  readonly dropped: number[] = [];
  readonly waiting: Sent[] = [];
  readonly policy: MailboxPolicy;

  constructor(policy: MailboxPolicy) {
    this.policy = policy;
  }

  get bytes(): number {
    return this.queue.reduce((sum, sent) => sum + sent.bytes, 0);
  }

  fits(sent: Sent): boolean {
    return this.queue.length < this.policy.capacity && this.bytes + sent.bytes <= this.policy.capacityBytes;
  }

  trySend(sent: Sent): Delivery {
    if (this.waiting.length === 0 && this.fits(sent)) {
      this.queue.push(sent);
      return Delivery.Delivered;
    }
    if (this.policy.whenFull === 'block' || this.policy.whenFull === 'reject') return Delivery.Full;
    if (this.policy.whenFull === 'drop-newest' || sent.bytes > this.policy.capacityBytes) {
      this.dropped.push(sent.id);
      return Delivery.Dropped;
    }
    while (!this.fits(sent)) this.dropped.push(this.queue.shift()!.id);
    this.queue.push(sent);
    return Delivery.Delivered;
  }

  take(): number | undefined {
    const taken = this.queue.shift()?.id;
    while (this.waiting.length > 0 && this.fits(this.waiting[0]!)) this.queue.push(this.waiting.shift()!);
    return taken;
  }
}

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('try'), bytes: fc.integer({ min: 0, max: 40 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('send'), bytes: fc.integer({ min: 0, max: 40 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('take'), bytes: fc.constant(0) }) },
);

for (const whenFull of ['block', 'reject', 'drop-oldest', 'drop-newest'] as const) {
  test(`${whenFull} does what a simple model does, and never exceeds its bounds`, () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 100 }),
        fc.array(step, { maxLength: 120 }),
        (capacity, capacityBytes, steps) => {
          const policy: MailboxPolicy = { capacity, capacityBytes, whenFull };
          const model = new Model(policy);
          const dropped: number[] = [];
          const mailbox = new Mailbox<number>(policy, { onDropped: (id) => dropped.push(id) });
          let full = 0;
          steps.forEach(({ do: what, bytes }, id) => {
            if (what === 'take') {
              assert.equal(mailbox.take(), model.take());
            } else if (what === 'try') {
              const expected = model.trySend({ id, bytes });
              if (expected === Delivery.Full) full++;
              assert.equal(mailbox.trySend(id, bytes), expected);
            } else {
              mailbox.send(id, bytes).catch(() => {});
              const fits = model.waiting.length === 0 && model.fits({ id, bytes });
              if (whenFull === 'block' && !fits && bytes <= capacityBytes) model.waiting.push({ id, bytes });
              else if (model.trySend({ id, bytes }) === Delivery.Full) full++;
            }
            assert.ok(mailbox.depth <= capacity && mailbox.bytes <= capacityBytes);
            assert.equal(mailbox.depth, model.queue.length);
            assert.equal(mailbox.bytes, model.bytes);
            assert.equal(mailbox.waiting, model.waiting.length);
          });
          assert.deepEqual(dropped, model.dropped);
          assert.equal(mailbox.dropped, model.dropped.length);
          assert.equal(mailbox.refused.full, full);
          assert.deepEqual(
            mailbox.close(),
            model.queue.map(({ id }) => id),
          );
        },
      ),
    );
  });
}

test('a ring that has grown keeps its order over its seam', () => {
  const mailbox = new Mailbox<number>({ capacity: 5000, capacityBytes: 1e6, whenFull: 'reject' });
  let next = 0;
  let expected = 0;
  for (let round = 0; round < 50; round++) {
    for (let i = 0; i < 90; i++) mailbox.trySend(next++, 1);
    for (let i = 0; i < 30; i++) assert.equal(mailbox.take(), expected++);
  }
  while (mailbox.depth > 0) assert.equal(mailbox.take(), expected++);
  assert.equal(expected, next);
  assert.equal(mailbox.bytes, 0);
});

test('senders that wait are let in first come, first served, also past a smaller one', async () => {
  const mailbox = new Mailbox<string>({ capacity: 10, capacityBytes: 10, whenFull: 'block' });
  const order: string[] = [];
  assert.equal(mailbox.trySend('a', 4), 'delivered');
  assert.equal(mailbox.trySend('b', 5), 'delivered');
  const big = mailbox.send('big', 8).then(() => order.push('big'));
  const small = mailbox.send('small', 1).then(() => order.push('small'));
  assert.equal(mailbox.trySend('overtaker', 1), 'full');
  assert.equal(mailbox.take(), 'a');
  await Promise.resolve();
  assert.deepEqual(order, []);
  assert.equal(mailbox.take(), 'b');
  await Promise.all([big, small]);
  assert.deepEqual(order, ['big', 'small']);
  assert.deepEqual([mailbox.take(), mailbox.take(), mailbox.take()], ['big', 'small', undefined]);
});

test('a message that can never fit is refused at once, whatever the policy', async () => {
  for (const whenFull of ['block', 'reject'] as const) {
    const mailbox = new Mailbox<string>({ capacity: 10, capacityBytes: 10, whenFull });
    await assert.rejects(mailbox.send('huge', 11), (error: ColibriError) => {
      assert.equal(error.code, 'mailbox-full');
      assert.match(error.message, /at most 10 bytes .* got 11/);
      return true;
    });
    assert.equal(mailbox.waiting, 0);
  }
  const dropping = new Mailbox<string>({ capacity: 2, capacityBytes: 10, whenFull: 'drop-oldest' });
  dropping.trySend('kept', 10);
  assert.equal(dropping.trySend('huge', 11), 'dropped');
  assert.equal(dropping.take(), 'kept');
});

test('watermarks are told once each way, by messages and by bytes', () => {
  const marks: string[] = [];
  const mailbox = new Mailbox<number>({
    capacity: 10,
    capacityBytes: 100,
    whenFull: 'reject',
    lowWater: 0.3,
  });
  const undo = mailbox.onWatermark((mark) => marks.push(`${mark} ${mailbox.depth}`));
  for (let i = 0; i < 10; i++) mailbox.trySend(i, 1);
  while (mailbox.depth > 0) mailbox.take();
  assert.deepEqual(marks, ['high 8', 'low 3']);
  mailbox.trySend(1, 40);
  mailbox.trySend(2, 45);
  mailbox.take();
  mailbox.take();
  assert.deepEqual(marks.slice(2), ['high 2', 'low 0']);
  undo();
  mailbox.trySend(1, 100);
  assert.equal(marks.length, 4);
});

test('close gives back what is inside, turns away who waits, and refuses from then on', async () => {
  const mailbox = new Mailbox<string>({ capacity: 1, capacityBytes: 10, whenFull: 'block' });
  mailbox.trySend('inside', 1);
  const waiting = mailbox.send('waiting', 1);
  const turnedAway = assert.rejects(waiting, { code: 'mailbox-closed' });
  assert.deepEqual(mailbox.close(), ['inside']);
  await turnedAway;
  assert.deepEqual(mailbox.close(), []);
  assert.equal(mailbox.trySend('late', 1), 'closed');
  await assert.rejects(mailbox.send('late', 1), { code: 'mailbox-closed' });
  assert.deepEqual([mailbox.depth, mailbox.bytes, mailbox.refused.closed], [0, 0, 3]);
});

test('a policy that makes no sense is refused with its values', () => {
  const policy: MailboxPolicy = { capacity: 0, capacityBytes: 10, whenFull: 'block' };
  assert.throws(() => new Mailbox(policy), ColibriError);
  assert.throws(() => new Mailbox({ ...policy, capacity: 1, lowWater: 0.9 }), /0\.9/);
});
