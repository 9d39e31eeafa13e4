import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runDocument, statusDocument } from '../../src/actors/control/documents.ts';
import { runtimeView } from '../telemetry/fixtures.ts';
import { runView } from './fixtures.ts';

test('the status shows the last undeliverable messages, without what they carried', () => {
  const message = { reason: 'dropped', kind: 'log', from: 'main', to: 'telemetry' };
  const view = runtimeView({ lastUndeliverable: [{ atMs: 0, ...message }] });
  assert.deepEqual(statusDocument(view, Date.UTC(2026, 0, 2)).last_undeliverable, [
    { at: '1970-01-01T00:00:00.000Z', ...message },
  ]);
});

test('when a run is due is shown until it is over', () => {
  const shown = (endedAtMs: number | null) => runDocument(runView('a@1', { dueAtMs: 0, endedAtMs })).due_at;
  assert.deepEqual([shown(null), shown(1)], ['1970-01-01T00:00:00.000Z', null]);
});
