/** A whole daemon with bounds: what it runs at once, what it says of it, and other bounds while it works. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { RunView } from '../../src/actors/views/run-view.ts';
import { loadConfigFile } from '../../src/main/config-part.ts';
import { Daemon } from '../../src/main/daemon.ts';
import { http } from '../control/fixtures.ts';
import { tempDir } from '../support/temp-dir.ts';

const text = (group: string, more = '') => `
metrics: { listen: null }
log: { level: silent }
store: { kind: memory }
pools: { io: { slots: 20 } }
groups: { api: ${group} }
tasks:
  - { name: call, handler: sleep, with: { ms: 60000 }, overlap: allow, timeout_seconds: 100, group: api }
  - name: sync
    handler: sleep
    with: { ms: 20 }
    overlap: allow
    concurrency_key: "{{ payload.ms }}"
${more}`;

interface Status {
  readonly bounds: readonly {
    kind: string;
    name: string;
    active: number;
    concurrency: number;
    held: number;
  }[];
}

test('bounds of a group and of keys hold in a daemon, are shown, and are taken up anew by a reload', async (t) => {
  const dir = tempDir(t);
  const file = join(dir, 'c.yaml');
  writeFileSync(file, text('{ concurrency: 2 }'));
  const read = () => loadConfigFile({ file, env: {}, nowMs: Date.now() });
  const daemon = new Daemon({
    config: (await read()).config,
    version: 'test',
    configSource: { look: () => null, load: read },
  });
  t.after(() => daemon.stop());
  await daemon.start();
  const socket = join(dir, 'state', 'control.sock');
  const trigger = (task: string, payload: unknown = null, wait = false) => {
    const body = {
      task,
      payload: payload === null ? null : JSON.stringify(payload),
      force: false,
      dueAtMs: null,
    };
    return daemon.runs.ask('trigger', { ...body, wait }, { timeoutMs: null });
  };
  const groupIs = async () => {
    const { bounds } = (await http(socket, 'GET', '/status')).document as unknown as Status;
    const { active, concurrency, held } = bounds.find(({ kind }) => kind === 'group')!;
    return [active, concurrency, held];
  };

  for (let count = 0; count < 7; count++) await trigger('call');
  assert.deepEqual(await groupIs(), [2, 2, 5]);

  const ended = await Promise.all(
    [20, 21, 20, 21, 20].map((ms) => trigger('sync', { ms }, true).then((reply) => reply.ended as RunView)),
  );
  for (const ms of [20, 21]) {
    const same = ended.filter(({ input }) => input === `{"ms":${ms}}`);
    assert.ok(same.every(({ state }) => state === 'success'));
    for (const [index, run] of same.entries()) {
      const before = same[index - 1];
      if (before !== undefined)
        assert.ok(run.startedAtMs! >= before.endedAtMs!, 'one after the other, in order');
    }
  }

  writeFileSync(file, text('{ concurrency: 4 }').replace('metrics:', 'version: two\nmetrics:'));
  const taken = await http(socket, 'POST', '/reload');
  assert.deepEqual(taken.document, {
    changed: true,
    config_version: 'two',
    tasks: 2,
    changes: ['version changed', 'groups.api.concurrency changed'],
    more: 0,
  });
  assert.deepEqual(await groupIs(), [4, 4, 3]);
  assert.deepEqual([daemon.view().configVersion, daemon.view().configReloadOk], ['two', true]);

  writeFileSync(file, text('{ concurrency: 4 }', '    timeout_seconds: 5\n'));
  assert.equal((await http(socket, 'POST', '/reload')).status, 409, 'anything else is for a start');
  assert.deepEqual(await groupIs(), [4, 4, 3]);

  const free = text('{ concurrency: 1 }').replace(', group: api', '');
  writeFileSync(file, free);
  assert.equal((await http(socket, 'POST', '/reload')).status, 200);
  assert.deepEqual(await groupIs(), [0, 1, 0]);
  assert.equal(daemon.view().pools.find(({ name }) => name === 'io')?.active, 7, 'nothing is lost');
  for (const { run } of await daemon.runs.ask('live', { task: 'call', state: null, limit: 99 })) {
    await daemon.runs.ask('cancel', { run });
  }
});
