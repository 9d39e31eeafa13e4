/** The parts of `delay` that compute. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { delayFigure } from '../../bench/delay-figure.ts';
import { measureRates } from '../../bench/delay-rates.ts';
import { latenessOf } from '../../bench/lateness.ts';

test('lateness is told by quantiles, and what was early is counted', () => {
  const late = Float64Array.from({ length: 1000 }, (_, index) => (index * 7) % 1000);
  assert.deepEqual(latenessOf(late), {
    count: 1000,
    p50Ms: 500,
    p99Ms: 990,
    p999Ms: 999,
    maxMs: 999,
    early: 0,
  });
  assert.equal(latenessOf(Float64Array.of(3, -0.001, 0, -2)).early, 2);
  assert.equal(latenessOf(Float64Array.of(-1)).early, 1);
  assert.equal(latenessOf(Float64Array.of()).count, 0);
});

test('every engine with one timer gives out what was put in, and has a rate for everything', async () => {
  for (const name of ['heap', 'wheel', 'poll'] as const) {
    const rates = await measureRates(name, 1000, 1);
    for (const [key, rate] of Object.entries(rates))
      assert.ok(Number.isFinite(rate) && rate > 0, `${name}: ${key} ${rate}`);
  }
});

test('the figure has a line an engine in each of three panels, within its bounds', () => {
  const points = ['heap', 'poll'].flatMap((engine, index) =>
    [0, 1, 10].map((batchMs) => ({
      engine,
      batchMs,
      bytes: { heap: 40 + index, rss: 50 },
      figures: {
        ...latenessOf(Float64Array.of(batchMs + 0.2)),
        cpuShare: 0.1,
        perCpuSecond: 100_000 * (index + 1),
        sleepsPerSecond: 10,
      },
    })),
  );
  const svg = delayFigure(points, 'a caption');
  assert.match(svg, /^<svg .*<\/svg>\n$/s);
  assert.doesNotMatch(svg, /NaN|Infinity|undefined/);
  assert.equal([...svg.matchAll(/<polyline/g)].length, 2 + 3 * 2, 'the legend has one each, too');
  const [, height] = /viewBox="0 0 \d+ (\d+)"/.exec(svg)!;
  for (const [, y] of svg.matchAll(/cy="([\d.]+)"/g)) assert.ok(Number(y) > 0 && Number(y) < Number(height));
});
