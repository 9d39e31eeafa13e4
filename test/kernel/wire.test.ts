import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Envelope, encodeEnvelope, encodeReply, isReplyText } from '../../src/actors/kernel/index.ts';
import {
  asEnvelope,
  asReply,
  type ControlFrame,
  encodeControl,
  encodeData,
  parseFrame,
} from '../../src/actors/kernel/wire.ts';

const envelope: Envelope = {
  id: 7,
  kind: 'add',
  from: 'main',
  to: 'counter',
  thread: 'main',
  deadlineAtMs: null,
  attempt: 1,
  question: true,
  body: { by: 2 },
};

test('a data frame comes back as it was, with sizes and replies told apart', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.jsonValue(), fc.boolean())), fc.boolean(), (bodies, wanting) => {
      const texts = bodies.map(([body, isReply], at) =>
        isReply
          ? encodeReply({ correlation: at, thread: 'main', from: 'x', reply: { ok: true, value: body } })
          : encodeEnvelope({ ...envelope, id: at, body }),
      );
      const frame = parseFrame(encodeData(texts, [3, 2], wanting));
      assert.ok(frame?.k === 'data');
      assert.deepEqual([frame.a, frame.w], [[3, 2], wanting]);
      bodies.forEach(([body, isReply], at) => {
        assert.equal(frame.s[at], isReply ? 0 : texts[at]!.length);
        const item = frame.e[at];
        const value = isReply ? asReply(item)?.reply : asEnvelope(item)?.body;
        assert.deepEqual(value, JSON.parse(JSON.stringify(isReply ? { ok: true, value: body } : body)));
      });
    }),
  );
});

test('control frames come back as they were', () => {
  const frames: ControlFrame[] = [
    { k: 'ready' },
    { k: 'ping', n: 4 },
    { k: 'pong', n: 4, delayMs: 1.5, heapBytes: 4_000_000 },
    { k: 'collect' },
    { k: 'close' },
    { k: 'closed' },
    { k: 'lost', thread: 'guest', cause: { code: 'thread-lost', message: 'gone' } },
  ];
  for (const frame of frames) assert.deepEqual(parseFrame(encodeControl(frame)), frame);
});

test('nothing that arrives throws, whatever it is', () => {
  const bad = [
    '',
    '{',
    'null',
    '[]',
    '{"k":"ping"}',
    '{"k":"pong","n":1}',
    '{"k":7}',
    '{"a":[1],"s":[],"e":[]}',
  ];
  bad.push('{"a":[],"s":[1],"e":[]}', '{"a":[-1,2],"s":[],"e":[]}', '{"a":[1.5,1],"s":[],"e":[]}');
  bad.push('{"k":"lost","thread":"x","cause":{"code":"constructor","message":""}}');
  for (const text of bad) assert.equal(parseFrame(text), null, text);
  fc.assert(
    fc.property(fc.oneof(fc.anything(), fc.json()), (value) => {
      parseFrame(value);
      asEnvelope(value);
      asReply(value);
    }),
  );
});

test('every field of an envelope is looked at', () => {
  assert.deepEqual(asEnvelope(envelope), envelope);
  for (const key of Object.keys(envelope).filter((key) => key !== 'body')) {
    assert.equal(asEnvelope({ ...envelope, [key]: {} }), null, key);
  }
  const reply = {
    correlation: 1,
    thread: 'main',
    from: 'x',
    reply: { ok: false, error: { code: 'timeout', message: '' } },
  };
  assert.deepEqual(asReply(reply), reply);
  assert.equal(asReply({ ...reply, reply: { ok: false, error: { code: 'unheard-of', message: '' } } }), null);
});

test('what is no JSON fails where it is sent, or becomes an answer that says so', () => {
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  for (const body of [cycle, { big: 1n }]) {
    assert.throws(() => encodeEnvelope({ ...envelope, body }), {
      code: 'message-invalid',
      message: /add to counter/,
    });
    const text = encodeReply({ correlation: 1, thread: 'main', from: 'x', reply: { ok: true, value: body } });
    assert.ok(isReplyText(text));
    assert.deepEqual(asReply(JSON.parse(text))?.reply.ok, false);
  }
  assert.equal(isReplyText(encodeEnvelope(envelope)), false);
});
