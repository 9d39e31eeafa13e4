/** `colibri next` with the real loader: what bounds a schedule, and why there are fewer occurrences than were asked for. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createDeps } from '../../src/main/cli/deps.ts';
import type { CliIo } from '../../src/main/cli/io.ts';
import { main } from '../../src/main/cli/main.ts';
import { displayWidth } from '../../src/main/cli/render/text.ts';
import { windowText } from '../../src/main/cli/render/window.ts';
import { tempDir } from '../support/temp-dir.ts';

const NOW = Date.UTC(2026, 6, 15, 12);

const TASKS = `
defaults: { time_zone: UTC }
tasks:
  - name: campaign
    handler: noop
    schedule: "0 12 * * *"
    start_at: 2026-07-01T00:00:00Z
    stop_at: 2026-07-20T00:00:00Z
    exclude: [ 2026-07-18, 2026-12-24..2027-01-02 ]
    splay_seconds: 600
  - { name: free, handler: noop, schedule: "0 12 * * *" }
  - { name: leap, handler: noop, schedule: "0 0 29 2 *", stop_at: 2027-01-01T00:00:00Z }
  - { name: none, handler: noop, every: 1h, exclude: [ 0001-01-01..9999-12-31 ] }
  - name: skipped
    handler: noop
    schedule: "30 2 * 3 0#2"
    time_zone: America/New_York
    dst: { gap: skip }
  - { name: once, handler: noop, at: 2026-08-01T00:00:00Z }
`;

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function cli(t: TestContext): (columns: number | null, ...argv: string[]) => Promise<Ran> {
  const cwd = tempDir(t);
  writeFileSync(join(cwd, 'colibri.yaml'), TASKS);
  return async (columns, ...argv) => {
    let [out, err] = ['', ''];
    const io: CliIo = {
      stdout: { write: (text) => (out += text) },
      stderr: { write: (text) => (err += text) },
      stdin: (async function* () {})(),
      env: { NO_COLOR: '1' },
      cwd,
      isTTY: columns !== null,
      columns: columns ?? 80,
      nowMs: () => NOW,
      onInterrupt: () => () => {},
    };
    const code = await main(['next', ...argv], io, createDeps(io, 'test'));
    return { code, out, err };
  };
}

const CUT = 'stop_at is 2026-07-20T00:00:00Z, the next would be at 2026-07-20T12:00:00Z';

test('fewer than were asked for: the reason beside the list, on a terminal, in a pipe, in the document', async (t) => {
  const next = cli(t);
  const screen = await next(200, 'campaign');
  const lines = screen.out.trimEnd().split('\n');
  assert.equal(
    lines[0],
    '0 12 * * * (UTC), from 2026-07-01T00:00:00Z, until 2026-07-20T00:00:00Z, not on 2026-07-18, 2026-12-24..2027-01-02, ' +
      'splay 600s',
  );
  assert.equal(lines.length, 1 + 1 + 4 + 1);
  assert.equal(lines.at(-1), `ends here: ${CUT}`);
  assert.equal(screen.err, '');

  const piped = await next(null, 'campaign');
  assert.equal(piped.out.trimEnd().split('\n').length, 4, 'rows alone');
  assert.equal(piped.err, `campaign: ends here: ${CUT}\n`);

  const json = await next(null, 'campaign', '--json');
  assert.equal(json.err, '');
  const document = JSON.parse(json.out);
  assert.deepEqual(document.end, { cause: 'stopped', reason: CUT });
  assert.deepEqual(
    [document.start_at, document.stop_at, document.splay_seconds],
    ['2026-07-01T00:00:00.000Z', '2026-07-20T00:00:00.000Z', 600],
  );
  assert.deepEqual(document.exclude, ['2026-07-18', '2026-12-24..2027-01-02']);
});

test('as many as were asked for: nothing is said, and without bounds nothing stands above', async (t) => {
  const next = cli(t);
  assert.doesNotMatch((await next(120, 'campaign', '-n', '4')).out, /ends here/);
  assert.equal((await next(null, 'campaign', '-n', '4')).err, '');
  const free = await next(120, 'free', '-n', '2');
  assert.match(free.out, /^DAY .*\n.*\n.*\n$/);
  assert.equal(JSON.parse((await next(null, 'free', '--json')).out).end, null);
});

test('none at all: the reason in the one line', async (t) => {
  const next = cli(t);
  const none = async (task: string) => (await next(null, task)).out.trimEnd();
  assert.equal(
    await none('leap'),
    'leap (0 0 29 2 * (UTC)) does not run any more: stop_at is 2027-01-01T00:00:00Z, the next would be at ' +
      '2028-02-29T00:00:00Z',
  );
  assert.equal(
    await none('none'),
    'none (every 3600s) does not run any more: each of its dates in the next 41 years is excluded',
  );
  assert.match(
    await none('skipped'),
    /does not run any more: the clocks skip its local time whenever it comes/,
  );
  const once = await next(null, 'once');
  assert.equal(once.out.trimEnd().split('\n').length, 1);
  assert.equal(once.err, 'once: ends here: it runs once, at 2026-08-01T00:00:00Z\n');
  assert.match(
    (await next(null, 'once', '--from', '2026-08-01T00:00:00Z')).out,
    /does not run any more: it runs once/,
  );
});

test('no line is wider than the terminal', async (t) => {
  const next = cli(t);
  for (const columns of [20, 40, 80]) {
    for (const line of (await next(columns, 'campaign')).out.split('\n'))
      assert.ok(displayWidth(line) <= columns, `${columns}: ${line}`);
  }
});

test('a window in words: what is set, a bounded number of dates', () => {
  const open = { start_at: null, stop_at: null, exclude: [], splay_seconds: 0 };
  assert.equal(windowText(open), '');
  assert.equal(windowText({ ...open, exclude: 0 }), '');
  assert.equal(windowText({ ...open, exclude: 1, splay_seconds: 2.5 }), '1 date excluded, splay 2.5s');
  assert.equal(windowText({ ...open, exclude: 3 }), '3 dates excluded');
  const exclude = Array.from({ length: 1000 }, (_, index) => `${2000 + index}-01-01`);
  assert.equal(
    windowText({ ...open, stop_at: '2027-01-01T00:00:00.500Z', exclude }),
    'until 2027-01-01T00:00:00.500Z, not on 2000-01-01, 2001-01-01, 2002-01-01, 2003-01-01, 2004-01-01 and 995 more',
  );
});
