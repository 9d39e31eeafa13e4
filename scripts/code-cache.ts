/**
 * Makes the code caches of the parts: starts a daemon from them, lets it do one run of each kind, and has each of its
 * threads write down what it has compiled.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { cacheFile } from '../src/workers/threads/parts.ts';
import { PARTS, ROOT } from './bundle.ts';
import { RUNTIME_FLAGS } from './runtime-flags.ts';

const LIMIT_MS = 20_000;
const LOOK_MS = 10;

/** What is called while this is loaded and run is in the caches. The file is hashed, too. */
const CONFIG = `memory: { budget_mb: 1024 }
metrics: { listen: 127.0.0.1:0 }
groups: { few: { concurrency: 2 } }
tasks:
  - name: some-minutes
    kind: io
    handler: noop
    schedule: "*/5 * * * *"
    time_zone: Europe/Berlin
  # A comment.
  - name: workdays
    handler: noop
    schedule: 30 3 * * 1-5
    overlap: queue-one
    group: few
    timeout_seconds: 10
  - name: intervals
    handler: sleep
    with: { ms: 0 }
    every: 1h
    run_on_start: true
    backoff: { kind: additive, base_seconds: 1, jitter_seconds: 1 }
  - { name: once, handler: noop, at: 2100-01-01T00:00:00Z }
  - name: digest
    kind: cpu
    handler: hash
    each: { files: "./*.yaml" }
    schedule: "@daily"
    run_on_start: true
flows:
  - name: both
    run_on_start: true
    steps:
      - { task: some-minutes }
      - { task: workdays, depends_on: [some-minutes], with: { of: "{{ flow.run }}" } }
`;
const SEEN_TO_WORK = ['"msg":"ready"', '"task":"intervals"', '"file":', '"task":"both"'];

type Daemon = ChildProcessByStdio<null, Readable, Readable>;

/** Writes a cache beside each part in `dist`. Throws where the daemon does not do within 20 s what it should. */
export async function recordCodeCaches(dist: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'colibri-build-'));
  const order = join(folder, 'order');
  writeFileSync(join(folder, 'colibri.yaml'), CONFIG);
  // A file that was just written may not be whole yet: a scan would wait for it.
  utimesSync(join(folder, 'colibri.yaml'), 0, 0);
  const recorder = join(ROOT, 'scripts', 'record-code-cache.cts');
  const daemon = spawn(
    process.execPath,
    [...RUNTIME_FLAGS, '--require', recorder, join(dist, 'colibri.js'), 'run'],
    { cwd: folder, env: { CODE_CACHE_ORDER: order }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const limit = setTimeout(() => daemon.kill('SIGKILL'), LIMIT_MS);
  try {
    await seen(daemon, SEEN_TO_WORK);
    writeFileSync(`${order}.part`, dist);
    renameSync(`${order}.part`, order);
    while (!PARTS.every((name) => existsSync(join(dist, cacheFile(name))))) {
      if (daemon.exitCode !== null || daemon.signalCode !== null) throw new Error('expected it to live on');
      await wait(LOOK_MS);
    }
  } finally {
    clearTimeout(limit);
    if (daemon.kill('SIGTERM')) await once(daemon, 'exit');
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Resolves when the daemon has written all of these texts. */
function seen(daemon: Daemon, texts: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let [written, complaints] = ['', ''];
    daemon.stdout.setEncoding('utf8').on('data', (text: string) => {
      written += text;
      if (texts.every((one) => written.includes(one))) resolve();
    });
    daemon.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaints += text;
    });
    daemon.on('error', reject).on('exit', (code, signal) => {
      const got = `its end with ${code ?? signal}: ${complaints}${written}`;
      reject(new Error(`expected the daemon of the build to write ${texts.join(', ')}, got ${got}`));
    });
  });
}
