/** T3: the log of a daemon names a run that a change of the clocks has moved. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestClock } from '../../src/actors/kernel/test-clock.ts';
import { resolveConfig } from '../../src/main/config/index.ts';
import { parseCron } from '../../src/main/schedule/parse/index.ts';
import { wireDaemon } from '../../src/main/wiring.ts';
import { builtInHandlers } from '../../src/workers/index.ts';
import { tempDir } from '../support/temp-dir.ts';

test('a run at the end of a gap says which local time it stands for; the others say nothing', async (t) => {
  // In Amsterdam, clocks go from 2:00 to 3:00 on 26 March 2023; asked for a week earlier.
  const clock = new TestClock(Date.UTC(2023, 2, 18, 23));
  const dir = tempDir(t);
  const tasks = [
    { name: 'weekly', handler: 'noop', schedule: '30 2 * * 0', splay_seconds: 60 },
    { name: 'hourly', handler: 'noop', schedule: '@hourly', run_on_start: true },
  ];
  const { config } = resolveConfig(
    { state_dir: dir, metrics: { listen: null }, defaults: { time_zone: 'Europe/Amsterdam' }, tasks },
    { directory: dir, cores: 2, builtIns: builtInHandlers, parseCron },
  );
  const lines: unknown[] = [];
  const { scheduler, runs, pools, system } = wireDaemon({
    config,
    version: 'test',
    clock,
    random: () => 0.5,
    pretty: false,
    colours: false,
    early: null,
    log: (level, msg, fields) => lines.push({ level, msg, ...fields }),
    view: () => {
      throw new Error('expected no view to be asked for');
    },
    configSource: null,
    onFatal: (message) => assert.fail(message),
    onRestarted: () => {},
  });
  scheduler.start();
  await clock.advance(8 * 86_400_000);
  scheduler.stop();
  await Promise.all(pools.map((pool) => pool.destroy()));
  runs.destroy();
  await system.close();
  assert.deepEqual(lines, [
    {
      level: 'info',
      msg: 'occurrence shifted',
      task: 'weekly',
      local_time: '2023-03-26T02:30',
      time_zone: 'Europe/Amsterdam',
      due: '2023-03-26T01:00:00.000Z',
    },
  ]);
});
