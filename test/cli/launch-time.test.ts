import assert from 'node:assert/strict';
import { test } from 'node:test';
import { takeLaunchMs } from '../../src/main/cli/launch-time.ts';

/** The runtime has been there for 80 ms, since second 99.92 after boot. */
const clocks = { uptimeSeconds: 100, monoMs: 80 };

test('what the launcher took is known, and its variable is gone', () => {
  const env: Record<string, string | undefined> = { COLIBRI_STARTED: '99.9', PATH: '/bin' };
  assert.equal(takeLaunchMs(env, clocks), 20);
  assert.deepEqual(env, { PATH: '/bin' });
});

test('without a launcher, or with a value that is not for this process, nothing is added', () => {
  // Not set, empty, no number, after the start of the runtime (as rounding gives it), and long ago.
  for (const value of [undefined, '', 'soon', '99.93', '12']) {
    assert.equal(takeLaunchMs({ COLIBRI_STARTED: value }, clocks), 0, String(value));
  }
});
