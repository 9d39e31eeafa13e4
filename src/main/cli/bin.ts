/** The command `colibri`: hands the real terminal and the real parts to `main`. */
import { fstatSync } from 'node:fs';
import { uptime } from 'node:os';
import { programVersion } from '../version.ts';
import { createDeps } from './deps.ts';
import type { CliIo } from './io.ts';
import { takeLaunchMs } from './launch-time.ts';
import { main } from './main.ts';

const launchMs = takeLaunchMs(process.env, { uptimeSeconds: uptime(), monoMs: performance.now() });

/** The runtime makes a stream when it is asked for it, and loads a dozen modules for that: a daemon needs none. */
const io: CliIo = {
  get stdout() {
    return process.stdout;
  },
  get stderr() {
    return process.stderr;
  },
  get stdin() {
    return process.stdin;
  },
  env: process.env,
  cwd: process.cwd(),
  get isTTY() {
    return fstatSync(1).isCharacterDevice() && process.stdout.isTTY === true;
  },
  get columns() {
    return process.stdout.columns ?? 80;
  },
  nowMs: () => Date.now(),
  onInterrupt(callback) {
    process.on('SIGINT', callback);
    return () => process.off('SIGINT', callback);
  },
};

main(process.argv.slice(2), io, createDeps(io, programVersion(), launchMs)).then(
  (code) => {
    process.exitCode = code;
    // Threads inside a native call must not keep an ended daemon alive.
    if (code !== 0 || process.argv[2] === 'run') process.exit(code);
  },
  (error: unknown) => {
    process.stderr.write(`colibri: ${error instanceof Error ? error.stack : String(error)}\n`);
    process.exit(1);
  },
);
