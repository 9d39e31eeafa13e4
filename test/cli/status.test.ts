import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { statusDocument } from '../../src/actors/control/documents.ts';
import type { BoundView, StoreView } from '../../src/actors/views/runtime-view.ts';
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

const bound = (fields: Partial<BoundView>): BoundView => {
  return { kind: 'group', name: 'api', concurrency: 10, rated: false, active: 10, held: 37, ...fields };
};

test('bounds are shown with what they hold back, and a queue whose sources wait', () => {
  const view = runtimeView({
    bounds: [
      bound({ kind: 'all', name: '', concurrency: 50, active: 12, held: 0 }),
      bound({}),
      bound({ name: 'mail', concurrency: null, rated: true, active: 1, held: 3 }),
      bound({ kind: 'key', name: 'sync', concurrency: 1, active: 5, held: 4 }),
    ],
    pressures: [
      { queue: 'ready', isHigh: true, rises: 2 },
      { queue: 'journal', isHigh: false, rises: 0 },
    ],
  });
  const shown = (columns: number, isTTY = true) =>
    statusText(statusDocument(view, NOW), { isTTY, columns, paint: new Paint(false) });
  const screen = shown(100);
  assert.match(screen, /^all runs +\[#+-+\] {2}12\/50$/m);
  assert.match(screen, /^group api +\[#+\] {2}10\/10 {2}37 held back$/m);
  assert.match(screen, /^group mail: 3 held back$/m);
  assert.match(screen, /^key sync: 4 held back$/m);
  assert.match(screen, /^ready is nearly full: its sources wait$/m);
  assert.doesNotMatch(screen, /journal/);
  const plain = shown(80, false);
  for (const row of [
    'active_all\t12/50',
    'held_back_group_api\t37',
    'active_group_mail\t1',
    'held_back_key_sync\t4',
    'high_water_ready\tyes',
  ]) {
    assert.ok(plain.includes(`${row}\n`), row);
  }
  for (const columns of [10, 30, 60]) {
    for (const line of shown(columns).split('\n')) assert.ok(displayWidth(line) <= columns, line);
  }
});
