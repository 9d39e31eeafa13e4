import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { LoopDelaySampler, TestClock } from '../../src/actors/kernel/index.ts';
import { DURATION_BOUNDS, Histogram, LAG_BOUNDS } from '../../src/actors/telemetry/histogram.ts';
import type { Scrape } from '../../src/actors/telemetry/metric-samples.ts';
import { METRICS } from '../../src/actors/telemetry/metric-table.ts';
import { Metrics } from '../../src/actors/telemetry/metrics.ts';
import { RunCounters } from '../../src/actors/telemetry/run-counters.ts';
import type { TaskView } from '../../src/actors/views/runtime-view.ts';
import { event, runtimeView } from './fixtures.ts';

const NONE = { p50: 0, p99: 0, max: 0 };

async function page(runs: RunCounters, fields: Partial<Scrape> = {}): Promise<string[]> {
  const scrape: Scrape = {
    view: runtimeView(),
    runs,
    serviceDelay: NONE,
    log: { dropped: 1, summarised: 2, errors: 3 },
    configVersion: 'v"1',
    configReloadOk: true,
    uptimeSeconds: 12.5,
    ...fields,
  };
  let text = '';
  for await (const piece of new Metrics().render(scrape)) text += piece;
  return text.split('\n').filter((line) => line !== '');
}

test('docs/metrics.md tells every metric with its type, labels and meaning, and no other', () => {
  const doc = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8');
  const rows = [...doc.matchAll(/^\| `(colibri_\w+)` \| (\w+) \| (.+?) \| (.+) \|$/gm)].map((row) =>
    row.slice(1),
  );
  const table = Object.entries(METRICS).map(([name, { type, labels, help }]) => {
    return [name, type, labels.map((label) => `\`${label}\``).join(', ') || '-', help];
  });
  assert.deepEqual(rows, table);
  const flat = doc.replace(/\s+/g, ' ');
  for (const bounds of [DURATION_BOUNDS, LAG_BOUNDS]) assert.ok(flat.includes(`: ${bounds.join(', ')}.`));
});

test('the last success of before is there from the start; a later one takes its place, a task that is gone has none', async () => {
  const runs = new RunCounters(['hash', 'copy']);
  for (const task of ['hash', 'gone']) runs.succeededBefore(task, 1000);
  const name = 'colibri_last_success_timestamp_seconds';
  const shown = async () => (await page(runs)).filter((line) => line.startsWith(name));
  assert.deepEqual(await shown(), [`${name}{task="hash"} 1`]);
  runs.count(event({ atMs: 2000 }));
  runs.succeededBefore('hash', 1000);
  assert.deepEqual(await shown(), [`${name}{task="hash"} 2`]);
});

test('every name of the table is on the page, with the values of main and of this thread', async () => {
  const runs = new RunCounters(['hash', 'copy']);
  runs.count(event({ state: 'running', lagMs: 3 }));
  runs.count(event({ durationMs: 40 }));
  runs.count(event({ state: 'failed', durationMs: 2000, dead: true }));
  runs.count(event({ state: 'failed', task: 'copy' }));
  runs.count(event({ state: 'retrying', durationMs: 1 }));
  const lines = await page(runs);
  const types = lines.filter((line) => line.startsWith('# TYPE')).map((line) => line.split(' ')[2]);
  assert.deepEqual(types, Object.keys(METRICS));
  for (const expected of [
    'colibri_runs_total{result="success",task="hash"} 1',
    'colibri_runs_total{result="failed",task="hash"} 1',
    'colibri_runs_total{result="success",task="copy"} 0',
    'colibri_run_duration_seconds_bucket{le="0.025",task="hash"} 1',
    'colibri_run_duration_seconds_bucket{le="0.1",task="hash"} 2',
    'colibri_run_duration_seconds_bucket{le="+Inf",task="hash"} 3',
    'colibri_run_duration_seconds_sum{task="hash"} 2.041',
    'colibri_run_duration_seconds_count{task="hash"} 3',
    'colibri_run_duration_max_seconds{task="hash"} 2',
    'colibri_retries_total{task="hash"} 1',
    'colibri_last_success_timestamp_seconds{task="hash"} 1767225600',
    'colibri_schedule_lag_seconds_bucket{le="0.005"} 1',
    'colibri_schedule_lag_seconds_count 1',
    'colibri_queue_depth{queue="ready"} 3',
    'colibri_queue_capacity{queue="dead-letter"} 2000',
    'colibri_queue_rejected_total{queue="ready"} 1',
    'colibri_dead_letters 2',
    'colibri_dead_letters_total{task="hash"} 1',
    'colibri_dead_letters_total{task="copy"} 0',
    'colibri_store_writable 1',
    'colibri_store_unrecorded 3',
    'colibri_active_runs{pool="cpu"} 1',
    'colibri_pool_slots{pool="io"} 10',
    'colibri_pool_busy_ratio{pool="cpu"} 0.5',
    'colibri_event_loop_delay_seconds{thread="main",quantile="0.99"} 0.002',
    'colibri_event_loop_delay_seconds{thread="service",quantile="1"} 0',
    'colibri_thread_restarts_total{thread="cpu"} 1',
    'colibri_memory_bytes{kind="rss"} 30000000',
    'colibri_main_answers 1',
    'colibri_log_lines_dropped_total 1',
    'colibri_config_info{version="v\\"1"} 1',
    'colibri_config_last_reload_success 1',
    'colibri_uptime_seconds 12.5',
  ]) {
    assert.ok(lines.includes(expected), expected);
  }
});

test('what the clocks did, and what was missed by the tasks that have a schedule', async () => {
  const task = (name: string, missed: number | null) => ({ name, missed }) as TaskView;
  const tasks = [task('hash', 3), task('copy', 0), task('manual', null)];
  const lines = await page(new RunCounters([]), { view: runtimeView({ tasks }) });
  const own = lines.filter((line) => /^colibri_(clock_jumps|occurrences_missed)/.test(line));
  assert.deepEqual(own, [
    'colibri_occurrences_missed_total{task="hash"} 3',
    'colibri_occurrences_missed_total{task="copy"} 0',
    'colibri_clock_jumps_total{kind="forward"} 1',
    'colibri_clock_jumps_total{kind="backward"} 0',
    'colibri_clock_jumps_total{kind="suspend"} 2',
    'colibri_clock_jumps_total{kind="stall"} 0',
  ]);
});

test('what is held back, and by what; which queue makes its sources wait', async () => {
  const at = { rated: false, active: 2, held: 5 };
  const view = runtimeView({
    bounds: [
      { ...at, kind: 'group', name: 'api', concurrency: 2 },
      { ...at, kind: 'group', name: 'mail', concurrency: null },
      { ...at, kind: 'key', name: 'sync', concurrency: 1 },
    ],
    pressures: [{ queue: 'ready', isHigh: true, rises: 3 }],
  });
  const lines = await page(new RunCounters([]), { view });
  for (const expected of [
    'colibri_held_back_runs{bound="group",name="api"} 5',
    'colibri_held_back_runs{bound="key",name="sync"} 5',
    'colibri_group_active_runs{group="mail"} 2',
    'colibri_group_concurrency{group="api"} 2',
    'colibri_queue_high_water{queue="ready"} 1',
    'colibri_queue_high_water_total{queue="ready"} 3',
  ]) {
    assert.ok(lines.includes(expected), expected);
  }
  assert.ok(!lines.some((line) => line.startsWith('colibri_group_concurrency{group="mail"}')));
});

test('flows: how many live, how their steps ended, what they hold; runs of flows are runs of their name', async () => {
  const steps = { success: 4, failed: 1, skipped: 2, cancelled: 0 };
  const view = runtimeView({ flows: [{ name: 'nightly', live: 3, steps }], liveFlowsBytes: 4711 });
  const runs = new RunCounters(['nightly']);
  runs.count(event({ task: 'nightly', state: 'success', durationMs: 2000 }));
  const lines = await page(runs, { view });
  for (const expected of [
    'colibri_live_flows{flow="nightly"} 3',
    'colibri_flow_steps_total{flow="nightly",result="success"} 4',
    'colibri_flow_steps_total{flow="nightly",result="skipped"} 2',
    'colibri_flow_steps_total{flow="nightly",result="cancelled"} 0',
    'colibri_live_flows_bytes 4711',
    'colibri_runs_total{result="success",task="nightly"} 1',
    'colibri_run_duration_seconds_sum{task="nightly"} 2',
  ]) {
    assert.ok(lines.includes(expected), expected);
  }
});

test('a store that cannot be written shows 0', async () => {
  const store = { kind: 'sqlite', writable: false, unrecorded: 20_000, reason: 'the disk is full' } as const;
  const lines = await page(new RunCounters([]), { view: runtimeView({ store }) });
  assert.ok(lines.includes('colibri_store_writable 0'));
  assert.ok(lines.includes('colibri_store_unrecorded 20000'));
});

test('a task that never ran counts no dead letters, so that a rate sees its first', async () => {
  const runs = new RunCounters(['hash']);
  assert.ok((await page(runs)).includes('colibri_dead_letters_total{task="hash"} 0'));
  runs.count(event({ task: 'gone', state: 'failed', dead: true }));
  assert.ok((await page(runs)).includes('colibri_dead_letters_total{task="_other"} 1'));
});

test('without main the page still shows what is known here', async () => {
  const lines = await page(new RunCounters(['hash']), { view: null });
  assert.ok(lines.includes('colibri_main_answers 0'));
  assert.ok(lines.includes('colibri_runs_total{result="success",task="hash"} 0'));
  assert.equal(
    lines.find((line) => line.startsWith('colibri_queue_depth')),
    undefined,
  );
});

test('the number of lines is bounded by the config, whatever names run and through reloads', async () => {
  const runs = new RunCounters(['hash']);
  runs.count(event({ durationMs: 1 }));
  runs.count(event({ task: 'gone', durationMs: 1 }));
  const before = (await page(runs)).length;
  for (let i = 0; i < 10_000; i++) runs.count(event({ task: `task-${i}`, durationMs: 1 }));
  assert.equal((await page(runs)).length, before);
  for (let reload = 0; reload < 50; reload++) {
    runs.setTasks([`hash-${reload}`]);
    runs.count(event({ task: `hash-${reload}`, durationMs: 1 }));
  }
  assert.equal((await page(runs)).length, before);
  assert.ok((await page(runs)).includes('colibri_runs_total{result="success",task="_other"} 10001'));
});

test('a reload keeps the counters of the tasks that stay', () => {
  const runs = new RunCounters(['hash', 'copy']);
  runs.count(event());
  runs.setTasks(['hash']);
  assert.equal(runs.of('hash').success, 1);
});

test('a histogram counts each value once, at or above its bound', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1000, noNaN: true })), (values) => {
      const histogram = new Histogram(DURATION_BOUNDS);
      for (const value of values) histogram.observe(value);
      let below = 0;
      for (const [i, bound] of [...DURATION_BOUNDS, Number.POSITIVE_INFINITY].entries()) {
        below += histogram.counts[i]!;
        assert.equal(below, values.filter((value) => value <= bound).length);
      }
      assert.equal(histogram.count, values.length);
    }),
  );
});

test('the sampler tells how late its timer fired since the last look', async () => {
  const clock = new TestClock();
  const sampler = new LoopDelaySampler(clock);
  sampler.start();
  sampler.start();
  await clock.advance(1000);
  assert.deepEqual(sampler.look(), NONE);
  assert.equal(clock.timers, 1);
  sampler.stop();
  assert.equal(clock.timers, 0);
});
