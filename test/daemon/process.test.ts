/** The daemon as a process: what a user and a supervisor see of it. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as passed } from 'node:timers/promises';
import { colibri, DaemonProcess, writeConfig } from '../support/daemon-process.ts';
import { MachinePressure } from '../support/process-facts.ts';
import { withoutTypes } from '../support/program.ts';
import { StallMeter, unlessStalled } from '../support/stalls.ts';
import { tempDir } from '../support/temp-dir.ts';

const tasks = [
  { name: 'quick', kind: 'io', handler: 'noop', overlap: 'allow' },
  { name: 'long', kind: 'io', handler: 'sleep', with: { ms: 60_000 }, timeout_seconds: 100, max_retry: 0 },
  { name: 'failing', kind: 'io', handler: 'command', with: { argv: ['false'] }, max_retry: 0 },
  {
    name: 'every-second',
    kind: 'io',
    handler: 'noop',
    schedule: '* * * * * *',
    stop_at: '2999-01-01T00:00:00Z',
  },
];
const config = { tasks, shutdown: { grace_seconds: 2 } };

test('commands against a running daemon: answers, documents and exit codes', async (t) => {
  const dir = tempDir(t);
  const daemon = await DaemonProcess.start(t, dir, config);
  const ready = await daemon.line((line) => line.msg === 'ready');
  assert.equal(ready.pid, daemon.child.pid);
  assert.equal(typeof ready.ready_ms, 'number');
  assert.deepEqual([ready.tasks, ready.flows], [tasks.length, 0]);
  assert.equal(statSync(join(dir, 'state', 'control.sock')).mode & 0o777, 0o600);

  const quick = await daemon.command('trigger', 'quick', '--wait');
  assert.equal(quick.code, 0, quick.stdout + quick.stderr);
  assert.equal((await daemon.command('trigger', 'failing', '--wait')).code, 1);
  const started = await daemon.json('trigger', 'long');
  const { run } = started.value as { run: string };
  const shown = (await daemon.json('show', run)).value as { state: string };
  assert.equal(shown.state, 'running');
  assert.equal((await daemon.command('trigger', 'long')).code, 1, 'overlap is obeyed');
  assert.equal((await daemon.command('cancel', run)).code, 0);
  await daemon.line((line) => line.run === run && line.result === 'cancelled');

  const deadRuns = async () => {
    const { value } = await daemon.json('dead', 'list');
    return (value as { dead_letters: { run: string }[] }).dead_letters.map((letter) => letter.run);
  };
  const [dead] = await deadRuns();
  assert.ok(dead !== undefined);
  assert.equal((await daemon.command('dead', 'replay', dead)).code, 0);
  await daemon.line((line) => line.run === `${dead}~1` && line.result === 'failed');
  assert.equal((await daemon.command('dead', 'purge', '--all')).code, 0);
  assert.deepEqual(await deadRuns(), []);

  assert.equal((await daemon.command('show', 'no@such')).code, 1);
  assert.equal((await daemon.command('trigger', 'nothing')).code, 1);
  assert.equal((await daemon.command('status')).code, 0);
  const { tasks: listed } = (await daemon.json('tasks')).value as {
    tasks: { name: string; window: unknown }[];
  };
  assert.deepEqual(
    listed.filter(({ window }) => window !== null),
    [listed.find(({ name }) => name === 'every-second')],
  );
  const stop = { start_at: null, stop_at: '2999-01-01T00:00:00.000Z', excluded: 0, splay_seconds: 0 };
  assert.deepEqual(listed.find(({ name }) => name === 'every-second')?.window, stop);
  assert.equal((await daemon.command('runs', '--state', 'nonsense')).code, 2);
  assert.equal((await daemon.command('triger')).code, 2);

  const second = await daemon.command('run');
  assert.equal(second.code, 75);
  assert.match(second.stderr, /pid \d+/);
  assert.equal((await daemon.command('status')).code, 0, 'the first one is untouched');

  daemon.child.kill('SIGTERM');
  assert.equal(await daemon.exited, 0);
  assert.equal(existsSync(join(dir, 'state', 'lock')), false);
  assert.equal((await daemon.command('status')).code, 69);
  const warnings = daemon.lines.filter(({ msg }) => msg === 'config').map(({ problem }) => String(problem));
  assert.equal(new Set(warnings).size, warnings.length);
  assert.match(warnings.join('\n'), /\(long\)\.timeout_seconds: expected a timeout of at most/);
  assert.equal(daemon.stderr, '', 'its warnings are said in the log, once');
});

test('SIGTERM: a run that fits into the grace ends, and the daemon with it', async (t) => {
  const daemon = await DaemonProcess.start(t, tempDir(t), {
    shutdown: { grace_seconds: 60 },
    tasks: [{ name: 'fits', handler: 'sleep', with: { ms: 300 }, timeout_seconds: 50 }],
  });
  const stalls = await StallMeter.start(t);
  const fits = (await daemon.json('trigger', 'fits')).value as { run: string };
  const stop = new Stop(daemon, { graceMs: 5000, stalls });
  await daemon.line((line) => line.run === fits.run && line.result === 'success');
  await stop.inTime();
});

test('SIGTERM: a run that does not fit into the grace is stopped in time, with all that it started', async (t) => {
  // A stop that stood still for long gives up what it waits for.
  await unlessStalled(t, async (stalls) => {
    const dir = tempDir(t);
    t.after(() => {
      for (const pid of survivors(dir)) process.kill(pid, 'SIGKILL');
    });
    const daemon = await DaemonProcess.start(t, dir, {
      shutdown: { grace_seconds: 2.5 },
      tasks: [
        {
          name: 'does-not',
          handler: 'command',
          with: { argv: ['sh', '-c', 'trap "" TERM; sleep 1000 & sleep 1000'] },
        },
      ],
    });
    await daemon.command('trigger', 'does-not');
    const undisturbed = await new Stop(daemon, { graceMs: 2500, stalls }).inTime();
    // A killed process is gone once the kernel has torn it down.
    for (let tries = 0; undisturbed && survivors(dir).length > 0; tries++) {
      assert.ok(tries < 200, `survivors: ${survivors(dir)}`);
      await passed(10);
    }
  });
});

for (const kind of ['cpu', 'io'] as const) {
  test(`W3: SIGTERM while a ${kind} module sits in one long native call: exit 0 within grace and a second`, {
    timeout: 60_000,
  }, async (t) => {
    // What is left for the last lines is short: a stall of its length takes all of it.
    await unlessStalled(t, async (stalls) => {
      const daemon = await DaemonProcess.start(t, tempDir(t), {
        shutdown: { grace_seconds: 1 },
        handlers: [withoutTypes(join(import.meta.dirname, 'handlers', '*.ts'))],
        tasks: [{ name: 'native', kind, handler: 'mischief', with: { how: 'native' }, timeout_seconds: 100 }],
      });
      await daemon.command('trigger', 'native');
      await daemon.nativeBegun;
      const undisturbed = await new Stop(daemon, { graceMs: 1000, stalls }).inTime();
      await daemon.line((line) => line.msg === 'stopping');
      if (undisturbed) await daemon.line((line) => line.msg === 'stopped');
    });
  });
}

test('a second signal ends everything at once', async (t) => {
  const daemon = await DaemonProcess.start(t, tempDir(t), { ...config, shutdown: { grace_seconds: 60 } });
  await daemon.command('trigger', 'long');
  daemon.child.kill('SIGTERM');
  await daemon.line((line) => line.msg === 'stopping');
  const begun = performance.now();
  const again = setInterval(() => daemon.child.kill('SIGINT'), 150);
  t.after(() => clearInterval(again));
  assert.equal(await daemon.exited, 0);
  const tookMs = performance.now() - begun;
  assert.ok(tookMs < 30_000, `${tookMs} ms, of a grace of 60,000`);
});

test('a lock whose holder is gone does not keep a daemon from starting', async (t) => {
  const dir = tempDir(t);
  const first = await DaemonProcess.start(t, dir, config);
  first.child.kill('SIGKILL');
  await first.exited;
  assert.ok(existsSync(join(dir, 'state', 'lock')));
  const second = await DaemonProcess.start(t, dir, config);
  assert.equal((await second.command('status')).code, 0);
});

test('a broken config: exit 78, every problem with its place, nothing started', async (t) => {
  const dir = tempDir(t);
  writeFileSync(
    join(dir, 'colibri.yaml'),
    'polls: {}\ntasks:\n  - { name: A, handler: hsh }\n  - { name: b }\n',
  );
  const checked = await colibri(['check'], dir);
  assert.equal(checked.code, 78);
  for (const place of [
    /colibri\.yaml:1:1: .*polls.*pools/,
    /colibri\.yaml:3:\d+: .*name/,
    /colibri\.yaml:4:\d+: .*handler/,
  ]) {
    assert.match(checked.stdout + checked.stderr, place);
  }
  assert.equal((await colibri(['run'], dir)).code, 78);
  assert.equal(existsSync(join(dir, 'state')), false);
  writeConfig(dir, config);
  assert.equal((await colibri(['check'], dir)).code, 0);
  assert.equal((await colibri(['run', '--config', 'nowhere.yaml'], dir)).code, 78);
});

/** A limit that comes later than this counts once more. */
const LATE_MS = 100;

/** An orderly stop, begun when it is made. */
class Stop {
  readonly #daemon: DaemonProcess;
  readonly #graceMs: number;
  readonly #stalls: StallMeter;
  readonly #begunMono = performance.now();
  readonly #stalledMs: number;
  readonly #pressure = new MachinePressure();

  constructor(daemon: DaemonProcess, options: { readonly graceMs: number; readonly stalls: StallMeter }) {
    this.#daemon = daemon;
    this.#graceMs = options.graceMs;
    this.#stalls = options.stalls;
    this.#stalledMs = options.stalls.takenMs();
    daemon.child.kill('SIGTERM');
  }

  /** Ends with 0, within the grace and a second; true: also by the clock, and the machine did not stand still. */
  async inTime(): Promise<boolean> {
    assert.equal(await this.#daemon.exited, 0);
    const tookMs = performance.now() - this.#begunMono;
    const stalledMs = this.#stalls.takenMs() - this.#stalledMs;
    const ownMs = this.#graceMs + 1000;
    const inOrder = stalledMs < LATE_MS;
    const boundMs = (inOrder ? ownMs : 2 * ownMs) + stalledMs + this.#pressure.takenMs();
    assert.ok(tookMs < boundMs, `${tookMs} ms, expected less than ${boundMs}`);
    return inOrder && tookMs < ownMs;
  }
}

/** Processes started by a run of this daemon that are still there. */
function survivors(dir: string): number[] {
  const pids: number[] = [];
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      if (
        readFileSync(`/proc/${entry}/environ`, 'utf8').includes('COLIBRI_TASK=does-not') &&
        readlinkSync(`/proc/${entry}/cwd`).startsWith(dir)
      )
        pids.push(Number(entry));
    } catch {
      // Gone meanwhile.
    }
  }
  return pids;
}
