import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestClock } from '../../src/actors/kernel/index.ts';
import type { TelemetryMessages } from '../../src/actors/protocol.ts';
import { CHUNK_BYTES } from '../../src/actors/telemetry/line-writer.ts';
import type { RuntimeView } from '../../src/actors/views/runtime-view.ts';
import { type Rig, rig, runtimeView } from './fixtures.ts';

const usage = async ({ send }: Rig) => (await send('usage', null)) as TelemetryMessages['usage']['reply'];

test('usage: the buffers of the log, and the mailboxes of its thread', async () => {
  const made = rig(new TestClock());
  assert.deepEqual(await usage(made), { logBytes: 0, mailboxes: [{ actor: 'store', bytes: 77 }] });
  await made.send('log', { level: 'info', atMs: 0, msg: 'one', fields: null });
  assert.equal((await usage(made)).logBytes, CHUNK_BYTES);
  await made.lines();
  assert.equal((await usage(made)).logBytes, CHUNK_BYTES, 'one is kept for the next line');
});

test('the reload metric is as main said last, also while main does not answer', async () => {
  let answer: () => Promise<RuntimeView> = async () => runtimeView();
  const made = rig(new TestClock(), { metrics: { host: '127.0.0.1', port: 0 } }, () => answer());
  const { metrics } = (await made.send('open', null)) as TelemetryMessages['open']['reply'];
  const scrape = async (): Promise<string | undefined> => {
    const page = await (await fetch(`http://127.0.0.1:${metrics!.port}/metrics`)).text();
    return page.split('\n').find((line) => line.startsWith('colibri_config_last_reload_success'));
  };
  try {
    assert.equal(await scrape(), 'colibri_config_last_reload_success 1');
    answer = async () => runtimeView({ configReloadOk: false });
    assert.equal(await scrape(), 'colibri_config_last_reload_success 0');
    answer = () => Promise.reject(new Error('main is busy'));
    assert.equal(await scrape(), 'colibri_config_last_reload_success 0');
  } finally {
    await made.behaviour.stop?.();
  }
});
