import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { KEPT_BYTES, OutputTail } from '../../src/workers/processes/output-tail.ts';

function write(output: OutputTail, bytes: Buffer, chunkSize: number): void {
  for (let at = 0; at < bytes.length; at += chunkSize) output.write(bytes.subarray(at, at + chunkSize));
}

test('what fits is kept whole, in whatever chunks it comes', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 5000 }),
      fc.integer({ min: 1, max: 9000 }),
      (text, chunk) => {
        const bytes = Buffer.from(text);
        fc.pre(bytes.length <= 2 * KEPT_BYTES);
        const output = new OutputTail();
        write(output, bytes, chunk);
        assert.equal(output.text(), bytes.toString());
        assert.equal(output.bytes, bytes.length);
      },
    ),
  );
});

test('of more, head and tail are kept, no character is split, and every byte is accounted for', () => {
  const unit = fc.constantFrom('a', 'é', '語', '🙂', '\n');
  fc.assert(
    fc.property(
      fc.array(unit, { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 2 * KEPT_BYTES + 1, max: 60_000 }),
      fc.integer({ min: 1, max: 70_000 }),
      (units, minBytes, chunk) => {
        const block = units.join('');
        const text = block.repeat(Math.ceil(minBytes / Buffer.byteLength(block)));
        const output = new OutputTail();
        write(output, Buffer.from(text), chunk);
        assert.equal(output.bytes, Buffer.byteLength(text));
        const parts = /^([^…]*)\n… \[(\d+) bytes cut\] …\n([^…]*)$/u.exec(output.text());
        assert.ok(parts !== null);
        const [, head = '', cut = '', tail = ''] = parts;
        assert.ok(text.startsWith(head) && text.endsWith(tail));
        assert.ok(!head.includes('\uFFFD') && !tail.includes('\uFFFD'));
        const kept = Buffer.byteLength(head) + Buffer.byteLength(tail);
        assert.equal(kept + Number(cut), output.bytes);
        assert.ok(kept > 2 * KEPT_BYTES - 8 && kept <= 2 * KEPT_BYTES);
      },
    ),
  );
});

test('bytes that are no UTF-8 are replaced, of any length', () => {
  for (const length of [1, 5, KEPT_BYTES, 3 * KEPT_BYTES]) {
    const output = new OutputTail();
    output.write(Buffer.alloc(length, 0xff));
    assert.match(output.text(), /^\uFFFD+(\n… \[\d+ bytes cut\] …\n\uFFFD+)?$/);
    const continuation = new OutputTail();
    continuation.write(Buffer.alloc(length, 0x80));
    assert.equal(continuation.bytes, length);
    assert.match(continuation.text(), /\uFFFD/);
  }
});

test('the end is the end, cut between characters', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 30_000 }), fc.integer({ min: 1, max: 4000 }), (count, limit) => {
      const text = '語🙂a'.repeat(count / 3);
      const output = new OutputTail();
      output.write(Buffer.from(text));
      const end = output.end(limit);
      assert.ok(text.endsWith(end) && end.isWellFormed());
      assert.ok(end.length <= limit && end.length >= Math.min(text.length, limit, 4000) - 1);
    }),
  );
});

test('nothing written is an empty text', () => {
  assert.equal(new OutputTail().text(), '');
  assert.equal(new OutputTail().end(10), '');
});
