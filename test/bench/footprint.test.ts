/** The parts of `footprint` and `soak` that compute. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { costRows } from '../../bench/cost.ts';
import { distantSchedules } from '../../bench/footprint-config.ts';
import { withConfig } from '../../bench/footprint-daemon.ts';
import { figureRow } from '../../bench/footprint-rows.ts';
import { loadRows } from '../../bench/footprint-scenarios.ts';
import { slope } from '../../bench/soak.ts';

test('the start script gets another config, whatever its path is, and nothing else of it changes', () => {
  const awkward = `/tmp/it's $HOME/$& "x"/c.yaml`;
  for (const option of ['--config configs/a.yaml', '--config=configs/a.yaml', `--config 'a b.yaml'`]) {
    const script = withConfig(`printf '%s\\n' run ${option} --json`, awkward);
    const { stdout } = spawnSync('sh', ['-c', script], { encoding: 'utf8' });
    assert.deepEqual(stdout.split('\n').slice(0, -1), ['run', '--config', awkward, '--json']);
  }
  assert.throws(() => withConfig('exec node dist/colibri.js run', '/tmp/c.yaml'), /expected a start script/);
});

test('a bound is held against the figure and not against what is left of it after rounding', () => {
  const row = (value: number, bound: Parameters<typeof figureRow>[0]['bound']) =>
    figureRow({ name: 'n', unit: 'MB', value, bound });
  assert.equal(row(40.001, { atMost: 40 }).met, false);
  assert.match(row(40.001, { atMost: 40 }).note!, /≤ 40: NOT met/);
  assert.equal(row(40, { atMost: 40 }).met, true);
  assert.equal(row(0.5, { below: 0.5 }).met, false);
  assert.equal(row(27_403.6, { atLeast: 27_404 }).met, false);
  assert.match(row(27_404, { atLeast: 27_404 }).note!, /≥ 27404: met/);
  assert.equal('met' in row(1, undefined), false);
});

test('cron schedules that are no two alike and not due for months', () => {
  for (const now of [new Date(2026, 0, 31), new Date(2026, 5, 1), new Date(2026, 11, 31)]) {
    const schedules = distantSchedules(now);
    assert.equal(new Set(schedules).size, 200);
    for (const schedule of schedules) {
      const month = Number(schedule.split(' ')[3]);
      const ahead = (month - 1 - now.getMonth() + 12) % 12;
      assert.equal(ahead, 6, schedule);
    }
  }
});

test('the slope of growth is that of the best line, and none where nothing grows', () => {
  const runs = [0, 10, 20, 30, 40];
  assert.equal(slope(runs.map((x) => ({ x, y: 7 }))), 0);
  assert.ok(Math.abs(slope(runs.map((x) => ({ x, y: 3 + x / 4 }))) - 0.25) < 1e-12);
  // One outlier in the middle does not tilt the line.
  assert.ok(Math.abs(slope(runs.map((x) => ({ x, y: x === 20 ? 100 : x }))) - 1) < 1e-12);
});

test('a scenario whose pools had little to do does not pass', () => {
  const pool = (name: string, busy_ratio: number) => ({ name, slots: 2, active: 0, threads: 2, busy_ratio });
  const busyRow = (cpu: number, io: number, pools: readonly ('cpu' | 'io')[]) => {
    const ready = { name: 'ready', depth: 7, capacity: 500, rejected: 0 };
    const looked = { ready, cpu: pool('cpu', cpu), io: pool('io', io), liveRuns: 0 };
    const totals = { ended: 1, accepted: 0, refused: 0, heldBack: 0 };
    return loadRows('n', { looked, totals, pools }).find(({ name }) => name === 'n: busy')!;
  };
  assert.deepEqual([busyRow(0.95, 0, ['cpu']).met, busyRow(0.95, 0, ['cpu']).value], [true, 95]);
  assert.equal(busyRow(0.95, 0, ['cpu', 'io']).met, false);
  assert.equal(busyRow(0.89, 1, ['cpu', 'io']).met, false);
  assert.equal(busyRow(0.91, 0.99, ['cpu', 'io']).met, true);
});

test('what being small costs is compared by name, and nothing compared is a fault of the benchmark', () => {
  const rates = (...pairs: [string, number[]][]) => new Map(pairs);
  const [row] = costRows('runs', rates(['a', [100, 1, 100]]), rates(['a', [96, 96, 2]]));
  assert.deepEqual([row?.value, row?.ratio, row?.met], [96, 0.96, true]);
  assert.equal(costRows('runs', rates(['a', [100]]), rates(['a', [94]]))[0]?.met, false);
  assert.throws(() => costRows('runs', rates(), rates()), /expected rates of colibri from runs, got none/);
  for (const [plain, small] of [
    [rates(['a', [1]]), rates()],
    [rates(['a', [1]]), rates(['a', [1]], ['b', [1]])],
  ] as const)
    assert.throws(() => costRows('runs', plain, small), /with and without, got only one/);
});
