import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CreditChannel } from '../../src/actors/kernel/credit-channel.ts';
import { type Envelope, encodeEnvelope, encodeReply } from '../../src/actors/kernel/index.ts';
import { parseFrame } from '../../src/actors/kernel/wire.ts';

const text = (id: number, pad = 0) => encodeEnvelope({ ...EMPTY, id, body: 'x'.repeat(pad) });
const EMPTY: Envelope = {
  id: 0,
  kind: 'item',
  from: 'a',
  to: 'b',
  thread: 'a',
  deadlineAtMs: null,
  attempt: 1,
  question: false,
  body: null,
};

interface Side {
  readonly channel: CreditChannel;
  readonly arrived: number[];
  readonly replies: number[];
  readonly toConsume: { readonly bytes: number; readonly consumed: () => void }[];
  frames: number;
  bytesInside: number;
}

/** Two channels, each the other's far side. */
function pair(credit: { messages: number; bytes: number }): [Side, Side] {
  const side = (): Side => ({
    channel: new CreditChannel(credit, 'outbox'),
    arrived: [],
    replies: [],
    toConsume: [],
    frames: 0,
    bytesInside: 0,
  });
  const sides: [Side, Side] = [side(), side()];
  sides.forEach((near, at) => {
    const far = sides[1 - at]!;
    near.channel.attach(
      (message) => {
        near.frames++;
        const frame = parseFrame(message);
        assert.ok(frame?.k === 'data');
        setImmediate(() => far.channel.accept(frame));
      },
      {
        onEnvelope(value, bytes, consumed) {
          near.arrived.push((value as Envelope).id);
          near.toConsume.push({ bytes, consumed });
          near.bytesInside += bytes;
          assert.ok(near.toConsume.length <= credit.messages && near.bytesInside <= credit.bytes);
        },
        onReply: (value) => void near.replies.push((value as { correlation: number }).correlation),
      },
    );
  });
  return sides;
}

function consume(side: Side, at: number): void {
  const [item] = side.toConsume.splice(at, 1);
  side.bytesInside -= item!.bytes;
  item!.consumed();
}

async function loops(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
}

test('credit is never exceeded, nothing is lost, order is kept, whoever consumes in whatever order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 12 }),
      fc.array(fc.tuple(fc.boolean(), fc.nat(400)), { minLength: 1, maxLength: 80 }),
      fc.infiniteStream(fc.nat(1000)),
      async (messages, sends, choices) => {
        const sides = pair({ messages, bytes: 1200 });
        const sent: [number[], number[]] = [[], []];
        const waiting: Promise<void>[] = [];
        sends.forEach(([first, pad], id) => {
          const at = first ? 0 : 1;
          sent[at].push(id);
          waiting.push(sides[at].channel.send(text(id, pad)));
        });
        for (let idle = 0; idle < 6; ) {
          const busy = sides.filter((side) => side.toConsume.length > 0);
          idle = busy.length > 0 ? 0 : idle + 1;
          for (const side of busy) consume(side, choices.next().value % side.toConsume.length);
          await loops(1);
        }
        await Promise.all(waiting);
        assert.deepEqual(sides[1].arrived, sent[0]);
        assert.deepEqual(sides[0].arrived, sent[1]);
      },
    ),
    { numRuns: 60 },
  );
});

test('a reply passes messages that wait for credit', async () => {
  const [near, far] = pair({ messages: 2, bytes: 1e6 });
  for (let id = 0; id < 4; id++) near.channel.trySend(text(id));
  near.channel.trySend(
    encodeReply({ correlation: 9, thread: 'b', from: 'a', reply: { ok: true, value: 1 } }),
  );
  await loops(4);
  assert.deepEqual([far.arrived, far.replies], [[0, 1], [9]]);
});

test('two sides that are both out of credit do not keep ringing each other', async () => {
  const [near, far] = pair({ messages: 1, bytes: 1e6 });
  for (let id = 0; id < 2; id++) for (const side of [near, far]) void side.channel.trySend(text(id));
  await loops(50);
  assert.ok(near.frames <= 2 && far.frames <= 2, `got ${near.frames} and ${far.frames} frames`);
  assert.deepEqual([near.arrived, far.arrived], [[0], [0]]);
  consume(near, 0);
  await loops(5);
  assert.deepEqual([near.arrived, far.arrived], [[0, 1], [0]]);
});

test('messages of one turn travel in one frame; half of the credit is given back unasked', async () => {
  const [near, far] = pair({ messages: 100, bytes: 1e6 });
  for (let id = 0; id < 20; id++) near.channel.trySend(text(id));
  await loops(3);
  assert.deepEqual([near.frames, far.arrived.length], [1, 20]);
  for (let id = 20; id < 60; id++) near.channel.trySend(text(id));
  await loops(3);
  for (let i = 0; i < 49; i++) consume(far, 0);
  await loops(3);
  assert.equal(far.frames, 0);
  consume(far, 0);
  await loops(3);
  assert.deepEqual([far.frames, near.channel.stats.creditMessages], [1, 90]);
  far.channel.flush();
  assert.equal(far.frames, 1);
});

test('the outbox is bounded, and close returns what was not consumed, in order', async () => {
  const [near, far] = pair({ messages: 3, bytes: 1e6 });
  for (let id = 0; id < 6; id++) assert.equal(near.channel.trySend(text(id)), 'delivered');
  assert.equal(near.channel.trySend(text(6)), 'full');
  const admitted = near.channel.send(text(7));
  const turnedAway = assert.rejects(near.channel.send(text(9)), { code: 'mailbox-closed' });
  await assert.rejects(near.channel.send(text(8, 2e6)), { code: 'mailbox-full' });
  await loops(3);
  consume(far, 1);
  far.channel.flush();
  await loops(3);
  assert.deepEqual(
    near.channel.close().map((rest) => (JSON.parse(rest) as Envelope).id),
    [0, 2, 3, 4, 5, 7],
  );
  await Promise.all([admitted, turnedAway]);
  assert.equal(near.channel.trySend(text(9)), 'closed');
  assert.deepEqual(near.channel.close(), []);
});

test('acknowledgements of what was never sent change nothing', async () => {
  const [near] = pair({ messages: 3, bytes: 1e6 });
  near.channel.trySend(text(0));
  near.channel.accept({ k: 'data', a: [5, 1e15], s: [], e: [], w: false });
  assert.equal(near.channel.stats.creditMessages, 2);
});
