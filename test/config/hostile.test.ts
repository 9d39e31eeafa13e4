import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { ConfigInvalid, loadConfig } from '../../src/main/config/index.ts';
import { TAKE_STRIPPED } from '../support/program.ts';
import { tempDir } from '../support/temp-dir.ts';
import { load, problemsOf, textOptions } from './config-fixtures.ts';
import { CONTRACT } from './contract-example.ts';

/** Processor time of this thread in ms: another process on the machine does not count. */
async function cpuMs(work: () => Promise<unknown>): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/** Nine levels of ten: a file of 500 bytes that stands for 10^9 values. */
function aliasBomb(): string {
  const levels = ['a: &a [x, x, x, x, x, x, x, x, x, x]'];
  for (const [inner, outer] of ['ab', 'bc', 'cd', 'de', 'ef', 'fg', 'gh', 'hi']) {
    levels.push(`${outer}: &${outer} [${Array(10).fill(`*${inner}`).join(', ')}]`);
  }
  return levels.join('\n');
}

test('hostile texts are refused in under 200 ms and 10 MB', async (t) => {
  await load('version: x');
  const texts: [string, RegExp][] = [
    [aliasBomb(), /expected aliases to stand for at most 100000 values/],
    [`x: &x [1]\ny: [${'*x,'.repeat(200_000)}]`, /expected at most 20000 aliases, got more/],
    ['x'.repeat(10_000_000), /expected a config of at most 1048576 bytes \(1 MiB\), got 10000000 bytes/],
    ['['.repeat(1_000_000), /levels of nesting/],
    ['- '.repeat(500_000), /levels of nesting/],
    ['{a: '.repeat(200_000), /levels of nesting/],
    [']'.repeat(1_000_000), /expected valid YAML/],
  ];
  for (const [text, message] of texts) {
    const name = text.slice(0, 12);
    let problems: readonly string[] = [];
    const before = process.memoryUsage();
    // The best of three: what a busy machine adds is not what is asked.
    let spentMs = Number.POSITIVE_INFINITY;
    for (let tries = 0; tries < 3 && spentMs >= 200; tries++) {
      const tookMs = await cpuMs(async () => {
        problems = await problemsOf(text);
      });
      spentMs = Math.min(spentMs, tookMs);
    }
    const after = process.memoryUsage();
    assert.match(problems.join('\n'), message, name);
    t.diagnostic(`${name}: ${spentMs.toFixed(1)} ms, rss +${((after.rss - before.rss) / 1e6).toFixed(1)} MB`);
    assert.ok(spentMs < 200, `${name}: ${spentMs} ms`);
  }
});

test('an alias bomb takes under 10 MB of a fresh process, the YAML reader loaded', () => {
  const script = `
    const { parseConfigText } = await import('./src/main/config/index.ts');
    const options = { file: 'c.yaml', env: {}, cores: 1, builtIns: [] };
    await parseConfigText('version: x', options);
    globalThis.gc();
    const before = process.resourceUsage().maxRSS;
    const problems = await parseConfigText(process.argv[1], options).then(() => [], (error) => error.problems);
    console.log(JSON.stringify({ problems: problems.length, kib: process.resourceUsage().maxRSS - before }));`;
  const args = [...TAKE_STRIPPED, '--expose-gc', '--input-type=module', '-e', script, aliasBomb()];
  const cwd = join(import.meta.dirname, '..', '..');
  const { problems, kib } = JSON.parse(execFileSync(process.execPath, args, { cwd, encoding: 'utf8' }));
  assert.ok(problems > 0);
  assert.ok(kib < 10 * 1024, `${kib} KiB`);
});

test('files that are too long are not read; what is no readable text is one problem', async (t) => {
  const directory = tempDir(t);
  const loadFile = async (file: string) => {
    try {
      await loadConfig({ ...textOptions, file });
      return 'loaded';
    } catch (error) {
      assert.ok(error instanceof ConfigInvalid);
      assert.equal(error.problems.length, 1);
      assert.equal(error.problems[0]?.file, file);
      return error.problems[0]?.message ?? '';
    }
  };
  const long = join(directory, 'long.yaml');
  writeFileSync(long, '');
  truncateSync(long, 10_000_000_000);
  assert.match(await loadFile(long), /got 10000000000 bytes/);
  assert.match(await loadFile('/dev/zero'), /got more than 1048576 bytes/);
  assert.match(
    await loadFile(join(directory, 'missing.yaml')),
    /^expected a file that can be read, got ENOENT: no such file or directory$/,
  );
  mkdirSync(join(directory, 'folder.yaml'));
  assert.match(await loadFile(join(directory, 'folder.yaml')), /expected a file, got a folder/);
  writeFileSync(join(directory, 'latin.yaml'), Buffer.from([0x76, 0xff, 0xfe]));
  assert.match(await loadFile(join(directory, 'latin.yaml')), /expected text in UTF-8/);
  writeFileSync(join(directory, 'bom.yaml'), '\uFEFFversion: x\n');
  assert.equal(await loadFile(join(directory, 'bom.yaml')), 'loaded');
});

test('a file of 2,000 tasks loads in under 500 ms, one of 10,000 loads', async (t) => {
  const file = (count: number) => {
    const lines = ['tasks:'];
    for (let i = 0; i < count; i += 1) {
      lines.push(`  - { name: task-${i}, handler: sleep, with: { ms: 10 }, every: 5s, timeout_seconds: 10 }`);
    }
    return lines.join('\n');
  };
  const small = file(2000);
  // The best of three: what else the machine does is not the loader's.
  const spentMs: number[] = [];
  for (let i = 0; i < 3; i += 1) {
    spentMs.push(await cpuMs(async () => assert.equal((await load(small)).config.tasks.length, 2000)));
  }
  t.diagnostic(`${spentMs.map(Math.round).join(', ')} ms`);
  assert.ok(Math.min(...spentMs) < 500, `${spentMs} ms`);
  assert.equal((await load(file(10_000))).config.tasks.length, 10_000);
});

test('whatever is done to a good file, it loads or its problems have places in it', async () => {
  const snippets = [
    '\n',
    '  ',
    ': ',
    '- ',
    '{',
    '}',
    '[',
    ']',
    '"',
    "'",
    '&a ',
    '*a',
    '!!x ',
    '|',
    '>',
    '#',
    '? ',
    ',',
    '%',
    '---\n',
    '...\n',
    '\t',
    '\0',
    'é',
    '<<: ',
    'null',
    '-1',
    '1e999',
    '__proto__: 1\n',
    'tasks:\n',
  ];
  const edit = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    cut: fc.nat({ max: 30 }),
    put: fc.oneof(fc.constantFrom(...snippets), fc.string({ maxLength: 5 })),
  });
  const listModules = () => ({ files: [], complete: true });
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 6 }), async (edits) => {
      let text = CONTRACT;
      for (const { at, cut, put } of edits) {
        const start = Math.floor(at * text.length);
        text = text.slice(0, start) + put + text.slice(start + cut);
      }
      try {
        await load(text, { listModules });
      } catch (error) {
        if (!(error instanceof ConfigInvalid)) throw error;
        assert.ok(error.problems.length > 0);
        const lines = text.split('\n');
        for (const { line, column, message } of error.problems) {
          assert.ok(line >= 1 && line <= lines.length, `line ${line} of ${lines.length}`);
          assert.ok(column >= 1 && column <= lines[line - 1]!.length + 1, `column ${column} of line ${line}`);
          assert.ok(message.length > 0 && message.length < 4096);
        }
      }
    }),
    { numRuns: 200 },
  );
});
