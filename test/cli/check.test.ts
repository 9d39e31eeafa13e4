/** `colibri check` with the real loader: its warnings, as lines and as a document. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createDeps } from '../../src/main/cli/deps.ts';
import type { CliIo } from '../../src/main/cli/io.ts';
import { main } from '../../src/main/cli/main.ts';
import { tempDir } from '../support/temp-dir.ts';

/** A week before the clocks of Berlin go forward. */
const NOW = Date.UTC(2027, 2, 21, 12);

async function check(
  t: TestContext,
  yaml: string,
  ...argv: string[]
): Promise<{ code: number; out: string }> {
  const dir = tempDir(t);
  writeFileSync(join(dir, 'colibri.yaml'), yaml);
  let out = '';
  const write = (text: string) => {
    out += text;
  };
  const io: CliIo = {
    stdout: { write },
    stderr: { write },
    stdin: (async function* () {})(),
    env: {},
    cwd: dir,
    isTTY: false,
    columns: 80,
    nowMs: () => NOW,
    onInterrupt: () => () => {},
  };
  const code = await main(['check', ...argv], io, createDeps(io, 'test'));
  return { code, out: out.replaceAll(`${dir}/`, '') };
}

const TASKS = `
defaults: { time_zone: Europe/Berlin }
tasks:
  - { name: union, handler: noop, schedule: "0 0 1 * 1" }
  - { name: six-fields, handler: noop, schedule: "* */15 * * * *" }
  - { name: nightly, handler: noop, schedule: "30 2 * * *" }
  - { name: fine, handler: noop, schedule: "*/5 * * * * *" }
`;

test('T10, T11 and the clocks: a warning each at its schedule, and the config can be used', async (t) => {
  const { code, out } = await check(t, TASKS);
  assert.equal(code, 0);
  const lines = out.trimEnd().split('\n');
  const expected = [
    /^warning: colibri\.yaml:4:45: tasks\[0\] \(union\)\.schedule: expected .*Mon 2027-03-22, Mon 2027-03-29, Thu 2027-04-01/,
    /^warning: colibri\.yaml:5:50: tasks\[1\] \(six-fields\)\.schedule: expected .*: 5,760 times a day; write the five/,
    /^warning: colibri\.yaml:6:47: tasks\[2\] \(nightly\)\.schedule: expected .*Sun 2027-03-28.*it runs at 03:00/,
    /^colibri\.yaml: ok, 4 tasks$/,
  ];
  assert.equal(lines.length, expected.length);
  for (const [index, pattern] of expected.entries()) assert.match(lines[index] ?? '', pattern);
  const document = JSON.parse((await check(t, TASKS, '--json')).out);
  assert.deepEqual(
    document.warnings.map(({ line, column }: { line: number; column: number }) => [line, column]),
    [
      [4, 45],
      [5, 50],
      [6, 47],
    ],
  );
});

test('many tasks at one instant: one warning at the first, with a splay', async (t) => {
  const tasks = Array.from(
    { length: 25 },
    (_, index) => `  - { name: job-${index}, handler: noop, every: 1h }`,
  );
  const { out } = await check(t, `tasks:\n${tasks.join('\n')}\n`);
  assert.match(
    out,
    /^warning: colibri\.yaml:2:42: tasks\[0\] \(job-0\)\.every: expected starts that are spread, got 25 tasks .*splay_seconds: \d+/,
  );
  assert.equal(out.split('\n').length, 3);
});

test('a config with problems is told those, and nothing is computed ahead', async (t) => {
  const { code, out } = await check(t, TASKS.replace('handler: noop', 'handler: nop'));
  assert.equal(code, 78);
  assert.match(out, /^colibri\.yaml:4:29: tasks\[0\] \(union\)\.handler: expected/);
  assert.equal(out.trimEnd().split('\n').length, 1);
});
