/** The figures of the benchmarks that look at a process from outside. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  type ProcessSample,
  parseCpuSeconds,
  parseStatus,
  sampleProcess,
  summarise,
} from '../../bench/sample-process.ts';
import { tempDir } from '../support/temp-dir.ts';

const AWKWARD_NAMES = ['node', 'a) b', ') R 1 (', '((', 'line\nend', '1 2 3) S 4', 'VmRSS: 7 kB', ''];

/** The fields after the name, as proc(5) counts them: state is 3, utime 14, stime 15. */
function statText(name: string, utime: number, stime: number): string {
  const before = 'S 1 2 3 0 -1 4194560 900 0 0 0';
  return `4711 (${name}) ${before} ${utime} ${stime} 77 88 20 0 11 0 12345 1000000 2500 18446744073709551615\n`;
}

function statusText(name: string): string {
  return [
    // The kernel escapes line ends here.
    `Name:\t${name.replaceAll('\n', '\\n')}`,
    'Umask:\t0022',
    'State:\tS (sleeping)',
    'VmHWM:\t   99999 kB',
    'VmRSS:\t   40960 kB',
    'RssAnon:\t   20480 kB',
    'RssFile:\t   18432 kB',
    'RssShmem:\t    2048 kB',
    'Threads:\t11',
    'SigQ:\t0/96000',
    '',
  ].join('\n');
}

for (const name of AWKWARD_NAMES) {
  test(`the texts of /proc of a process that is called ${JSON.stringify(name)}`, () => {
    assert.equal(parseCpuSeconds(statText(name, 1234, 66)), 13);
    assert.deepEqual(parseStatus(statusText(name)), {
      rss: 40960 * 1024,
      anon: 20480 * 1024,
      file: 18432 * 1024,
      threads: 11,
    });
  });
}

test('a process that has ended and is not collected has no memory, and a text of something else is refused', () => {
  assert.equal(parseStatus('Name:\ta) b\nState:\tZ (zombie)\nThreads:\t1\n'), null);
  assert.throws(() => parseCpuSeconds('nothing of the kind'), /expected the text of \/proc\/PID\/stat/);
});

test('a real process with an awkward name is sampled, and no process is none', async (t) => {
  const program = join(tempDir(t), 'a) R 9 (b');
  symlinkSync(process.execPath, program);
  // Works for a while, so that it has used processor time; then waits until it is killed.
  const source = `
    while (process.cpuUsage().user < 100_000);
    console.log('ready');
    setInterval(() => {}, 1e6);
  `;
  const child = spawn(program, ['-e', source], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  await once(child.stdout, 'data');
  const sample = sampleProcess(child.pid!)!;
  assert.ok(sample.rss > 10e6 && sample.rss >= sample.anon + sample.file, JSON.stringify(sample));
  assert.ok(sample.threads > 1, `${sample.threads} threads`);
  assert.ok(sample.cpuSeconds >= 0.05 && sample.cpuSeconds < 10, `${sample.cpuSeconds} s`);
  child.kill('SIGKILL');
  await exited;
  assert.equal(sampleProcess(child.pid!), null);
});

test('the summary has maximum and median of memory, most threads, and the share of one core', () => {
  const sample = (atMono: number, rss: number, threads: number, cpuSeconds: number): ProcessSample => {
    return { atMono, rss, anon: rss / 2, file: rss / 4, threads, cpuSeconds };
  };
  const samples = [sample(1000, 400, 7, 10), sample(2000, 800, 9, 11.5), sample(3000, 480, 8, 13)];
  assert.deepEqual(summarise(samples), {
    samples: 3,
    seconds: 2,
    rss: { max: 800, median: 480 },
    anon: { max: 400, median: 240 },
    file: { max: 200, median: 120 },
    threadsMax: 9,
    cpuShare: 1.5,
  });
  assert.throws(() => summarise(samples.slice(0, 1)), /expected two samples/);
});
