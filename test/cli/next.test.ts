import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { splayOf } from '../../src/main/schedule/index.ts';
import { colibri } from '../support/daemon-process.ts';
import { tempDir } from '../support/temp-dir.ts';

function folder(t: TestContext): string {
  const dir = tempDir(t);
  writeFileSync(
    join(dir, 'colibri.yaml'),
    `
tasks:
  - { name: nightly, handler: noop, schedule: '30 2 * * *', time_zone: Europe/Berlin, splay_seconds: 0 }
  - { name: splayed, handler: noop, schedule: '30 2 * * *', time_zone: UTC, splay_seconds: 600 }
  - { name: triggered, handler: noop }
  - { name: over, handler: noop, at: 2020-01-01T00:00:00Z }
`,
  );
  return dir;
}

const FROM = ['--from', '2026-10-24T12:00:00Z'];

test('next: the occurrences of a task as a table and as a document', async (t) => {
  const dir = folder(t);
  const { code, stdout } = await colibri(['next', 'nightly', '-n', '2', ...FROM, '--json'], dir);
  assert.equal(code, 0);
  assert.deepEqual(JSON.parse(stdout), {
    task: 'nightly',
    schedule: '30 2 * * * (Europe/Berlin)',
    time_zone: 'Europe/Berlin',
    start_at: null,
    stop_at: null,
    exclude: [],
    splay_seconds: 0,
    end: null,
    occurrences: [
      {
        at: '2026-10-25T00:30:00.000Z',
        local: '2026-10-25T02:30:00+02:00',
        weekday: 'Sun',
        shifted: false,
      },
      {
        at: '2026-10-26T01:30:00.000Z',
        local: '2026-10-26T02:30:00+01:00',
        weekday: 'Mon',
        shifted: false,
      },
    ],
  });
  const table = (await colibri(['next', 'nightly', ...FROM], dir)).stdout;
  assert.equal(table.trimEnd().split('\n').length, 5);
  assert.match(table, /2026-10-25 02:30:00\+02:00/);
});

test('next: a task on trigger, one that is over, one that is not there, an instant that is none', async (t) => {
  const dir = folder(t);
  assert.equal((await colibri(['next', 'triggered'], dir)).stdout, 'triggered runs on trigger only\n');
  assert.match(
    (await colibri(['next', 'over'], dir)).stdout,
    /does not run any more: it runs once, at 2020-01-01T00:00:00Z$/m,
  );
  const unknown = await colibri(['next', 'nightli'], dir);
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /nightli.*nightly/);
  const wrong = await colibri(['next', 'nightly', '--from', 'tomorrow'], dir);
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /--from: expected an instant/);
});

test('next: the instant is the one at which the daemon starts it, with the splay of the task itself', async (t) => {
  const dir = folder(t);
  const { stdout } = await colibri(['next', 'splayed', '-n', '1', ...FROM, '--json'], dir);
  const [first] = JSON.parse(stdout).occurrences;
  const offsetMs = splayOf('splayed', 600_000);
  assert.ok(offsetMs > 0 && offsetMs < 600_000);
  assert.equal(Date.parse(first.at), Date.UTC(2026, 9, 25, 2, 30) + offsetMs);
  assert.equal(first.local, '2026-10-25T02:30:00+00:00');
});
