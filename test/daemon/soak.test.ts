/** A short soak in a process of its own, so that its collector can be asked for and nothing else is in its heap. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { TAKE_STRIPPED } from '../support/program.ts';
import { ANON_BOUND, HEAP_BOUND, type SoakReport } from './soak.ts';

const IO_RUNS = 12_000;
const CPU_RUNS = 6_000;

test('W5: 18,000 runs leave nothing behind: heaps and listener counts are as before, every run is over', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...TAKE_STRIPPED,
    '--expose-gc',
    '--max-semi-space-size=1',
    '--max-old-space-size=24',
    fileURLToPath(new URL('./soak.ts', import.meta.url)),
    String(IO_RUNS),
    String(CPU_RUNS),
  ]);
  const report = JSON.parse(stdout) as SoakReport;
  assert.equal(report.runs, IO_RUNS + CPU_RUNS);
  assert.ok(report.heapGrowth < HEAP_BOUND, `heap grew by ${report.heapGrowth} bytes`);
  assert.ok(report.anonGrowth < ANON_BOUND, `anonymous memory grew by ${report.anonGrowth} bytes`);
  assert.equal(report.listenersAfter, report.listenersBefore);
  assert.match(
    report.listenersBefore,
    /worker 1 \| .*exit 2.* \| .*exit 2.* \| /,
    'main, service, two cpu threads',
  );
  assert.equal(report.undeliverable, 0);
});
