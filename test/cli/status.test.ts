import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { statusDocument } from '../../src/actors/control/documents.ts';
import type { StoreView } from '../../src/actors/protocol.ts';
import { Paint } from '../../src/main/cli/render/paint.ts';
import { statusText } from '../../src/main/cli/render/status.ts';
import { displayWidth } from '../../src/main/cli/render/text.ts';
import { runtimeView } from '../telemetry/fixtures.ts';
import { NOW } from './fixtures.ts';

const text = (store: StoreView, columns: number, isTTY = true) =>
  statusText(statusDocument(runtimeView({ store }), NOW), { isTTY, columns, paint: new Paint(false) });

const full: StoreView = {
  kind: 'sqlite',
  writable: false,
  unrecorded: 120,
  reason: 'the disk is full: /var',
};

test('a journal that cannot be written is told with its reason and what that means; else nothing is', () => {
  const flat = text(full, 60).replaceAll('\n', ' ');
  assert.match(
    flat,
    /the journal cannot be written: the disk is full: \/var; triggers are refused, the rest goes on, and 120 transitions/,
  );
  assert.doesNotMatch(text({ ...full, writable: true, reason: null }, 60), /journal/);
  assert.match(text({ ...full, reason: null }, 200), /the reason is not known/);
});

test('in a pipe the reason is a line of its own, harmless', () => {
  const out = text({ ...full, reason: 'a\nb\tc' }, 80, false);
  assert.match(out, /^store_writable\tno\nstore_reason\ta\\nb\\tc\nstore_unrecorded\t120$/m);
});

test('no line about it is wider than the terminal, whatever the reason', () => {
  fc.assert(
    fc.property(fc.integer({ min: 10, max: 200 }), fc.string(), (columns, reason) => {
      for (const line of text({ ...full, reason }, columns).split('\n')) {
        assert.ok(displayWidth(line) <= columns, `${columns}: ${line}`);
      }
    }),
  );
});
