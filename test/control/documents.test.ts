import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statusDocument } from '../../src/actors/control/documents.ts';
import { runtimeView } from '../telemetry/fixtures.ts';

test('the status shows the last undeliverable messages, without what they carried', () => {
  const message = { reason: 'dropped', kind: 'log', from: 'main', to: 'telemetry' };
  const view = runtimeView({ lastUndeliverable: [{ atMs: 0, ...message }] });
  assert.deepEqual(statusDocument(view, Date.UTC(2026, 0, 2)).last_undeliverable, [
    { at: '1970-01-01T00:00:00.000Z', ...message },
  ]);
});
