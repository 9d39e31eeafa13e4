/** The properties of schedules in zones, with the process itself in either of two: it must not matter. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { TAKE_STRIPPED } from '../support/program.ts';

const SUITE = fileURLToPath(new URL('zones-properties.ts', import.meta.url));

for (const zone of ['UTC', 'America/New_York']) {
  test(`schedules in zones, in a process with TZ=${zone}`, { timeout: 60_000 }, async (t) => {
    // Without it the process would take itself for a part of this one, and report to nobody.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const child = spawn(process.execPath, [...TAKE_STRIPPED, '--test-reporter=tap', SUITE], {
      env: { ...env, TZ: zone },
      stdio: ['ignore', 'pipe', 'inherit'],
      signal: t.signal,
    });
    const [report, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    assert.equal(code, 0, report);
    assert.match(report, /^# pass [1-9]/m);
  });
}
