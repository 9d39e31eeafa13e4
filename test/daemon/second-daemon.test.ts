/** A second daemon on the state directory of one that lives, where the lock cannot tell: as from another container. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { daemonInside } from '../support/daemon-inside.ts';

const config = {
  shutdown: { grace_seconds: 1 },
  tasks: [{ name: 'long', handler: 'sleep', with: { ms: 60_000 }, max_retry: 0 }],
};

test('a daemon that answers on its socket keeps its journal: the second one changes nothing in it', async (t) => {
  const { daemon, dir, trigger } = await daemonInside(t, config);
  const run = await trigger('long');
  const shown = () => daemon.store.ask('show', { run });
  while ((await shown())?.state !== 'running') await new Promise(setImmediate);
  const before = await shown();
  rmSync(join(dir, 'state', 'lock'));
  await assert.rejects(daemonInside(t, config, dir), {
    code: 'state-dir-held',
    message: /expected no daemon on the control socket, got an answer/,
  });
  assert.deepEqual(await shown(), before);
});
