import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { sizeDocument } from '../../src/actors/control/index.ts';
import type { SizeView } from '../../src/actors/views/size-view.ts';
import { Paint } from '../../src/main/cli/render/paint.ts';
import { sizeText } from '../../src/main/cli/render/size.ts';
import { displayWidth } from '../../src/main/cli/render/text.ts';
import { controlRig } from '../control/fixtures.ts';
import { cliRig } from './fixtures.ts';

const MIB = 2 ** 20;

function sizeView(fields: Partial<SizeView> = {}): SizeView {
  return {
    budgetBytes: 40 * MIB,
    rssBytes: 30 * MIB,
    rows: [
      {
        name: 'main heap',
        within: null,
        boundBytes: null,
        measuredBytes: 9 * MIB,
        how: 'and the rows below',
      },
      { name: 'live runs', within: 'main heap', boundBytes: 10 * MIB, measuredBytes: 2048, how: 'a quarter' },
      {
        name: 'runs on slots',
        within: 'live runs',
        boundBytes: null,
        measuredBytes: 0,
        how: 'counted there',
      },
      { name: 'cpu heap', within: null, boundBytes: 66 * MIB, measuredBytes: null, how: 'its limit' },
      { name: 'pages', within: null, boundBytes: null, measuredBytes: 21 * MIB, how: 'program, libraries' },
    ],
    boundsBytes: 76 * MIB,
    unbounded: ['main heap', 'pages'],
    steps: { release: 4, collect: 3, shrink: 2, grow: 1 },
    ready: {
      capacity: 15_000,
      rates: { backlogPerSecond: 500, tolerateSeconds: 30 },
      runBytes: 480,
      maxBytes: 8 * MIB,
    },
    io: { sizing: 'ratio', slots: 10, cores: 2, waitMs: 80, computeMs: 20 },
    flow: { windowMs: 60_000, arrivals: 1200, meanDepth: 5, ended: 1200, durationMs: 48_000 },
    ...fields,
  };
}

const text = (fields: Partial<SizeView> = {}, columns = 100) =>
  sizeText(sizeDocument(sizeView(fields)), { file: 'c.yaml', isTTY: true, columns, paint: new Paint(false) });

test('on a terminal: the rows as a tree, the sums beside the budget, each formula with its numbers', () => {
  const lines = text().split('\n');
  assert.deepEqual(lines.slice(0, 7), [
    'MEMORY OF             BOUND     HELD  HOW',
    'main heap          no bound   9.0 MB  and the rows below',
    '  live runs         10.0 MB     2 kB  a quarter',
    '    runs on slots         -     0 kB  counted there',
    'cpu heap            66.0 MB        -  its limit',
    'pages              no bound  21.0 MB  program, libraries',
    'sum: bounds 76.0 MB, 30.0 MB held; budget 40.0 MB',
  ]);
  const flat = lines.join(' ').replace(/ +/g, ' ');
  for (const part of [
    'All bounds together are 1.9 times the budget: a bound is what may be held at worst, not what is.',
    'Without a bound: main heap, pages.',
    'so far: release 4, collect 3, shrink 2, grow 1.',
    'ready queue 15000 runs = 500 runs/s × 30 s (L = λ × W)',
    '15000 × 480 bytes (an input of 150 bytes) = 6.9 MB of 8.0 MB',
    'measured over 60 s: 20.00 runs/s came, 5.0 stood in it, so each waited 250 ms (W = L / λ); at this rate it is full after 750 s',
    'io slots 10 = 2 cores × (1 + 80 ms / 20 ms)',
    '20.00 attempts/s × 40 ms = 0.8 in work at a time',
  ]) {
    assert.ok(flat.includes(part), `${part}\n${flat}`);
  }
});

test('what the bounds are within, what was given, what nothing was measured of', () => {
  assert.match(text({ boundsBytes: 39 * MIB }), /All bounds together are within the budget of 40\.0 MB\./);
  const given = text({
    ready: { capacity: 50_000, rates: null, runBytes: 480, maxBytes: 8 * MIB },
    io: { sizing: 'fixed', slots: 7, cores: 2, waitMs: 80, computeMs: 20 },
    flow: { windowMs: 1000, arrivals: 0, meanDepth: 0, ended: 0, durationMs: 0 },
  });
  assert.match(given, /50000 runs, as given/);
  assert.match(given, /22\.9 MB of 8\.0 MB: bytes fill it at 17476\s+runs/);
  assert.match(given, /nothing came/);
  assert.match(given, /io slots {5}7, as given; 2 cores × \(1 \+ 80 ms \/ 20 ms\) = 10\n/);
  const io = { sizing: 'measured', slots: 5, cores: 2, waitMs: 2.66666, computeMs: 2 } as const;
  assert.match(text({ io }), /5 = 2 cores × \(1 \+ 2\.67 ms \/ 2 ms\), wait and compute as measured/);
});

test('no line is wider than the terminal, at any width', () => {
  fc.assert(
    fc.property(fc.integer({ min: 20, max: 200 }), fc.boolean(), (columns, withDaemon) => {
      for (const line of text(withDaemon ? {} : { rssBytes: null, flow: null, steps: null }, columns).split(
        '\n',
      )) {
        assert.ok(displayWidth(line) <= columns, `${columns}: ${line}`);
        assert.ok(!line.endsWith(' '), line);
      }
    }),
  );
});

test('with a daemon: what it answers, as JSON and in a pipe', async (t) => {
  const { socketPath } = await controlRig(t, { runs: { size: () => sizeView() } });
  const cli = cliRig(socketPath);
  const json = await cli.run('size', '--json');
  assert.equal(json.code, 0);
  assert.deepEqual(JSON.parse(json.out), sizeDocument(sizeView()));
  const { code, out } = await cli.run('size');
  assert.equal(code, 0);
  const lines = out.split('\n');
  assert.equal(lines[1], `live runs\t${10 * MIB}\t2048\ta quarter`);
  assert.equal(lines[5], `sum\t${76 * MIB}\t${30 * MIB}\tresident memory`);
  assert.equal(lines[6], `budget\t${40 * MIB}\t-\tmemory.budget_mb`);
  assert.match(lines[7]!, /^ready queue\t15000 runs = 500/);
});

test('without a daemon: the computed columns, from the config, and it says so', async () => {
  const cli = cliRig();
  cli.deps = { sizeOf: async () => sizeView({ rssBytes: null, flow: null, steps: null }) };
  const json = await cli.run('size', '--json');
  assert.equal(json.code, 0);
  const { measured, rss_bytes: rss, flow } = JSON.parse(json.out);
  assert.deepEqual([measured, rss, flow], [false, null, null]);
  assert.match(
    (await cli.run('size')).out,
    /^sum\t\d+\t-\tno daemon answers: computed from \/work dir\/colibri\.yaml$/m,
  );
  cli.isTTY = true;
  cli.env = { NO_COLOR: '1' };
  assert.match(
    (await cli.run('size')).out,
    /^No daemon answers: computed from \/work dir\/colibri\.yaml\.\n/,
  );
});
