/** The command `colibri`: hands the real terminal and the real parts to `main`. */
import { programVersion } from '../version.ts';
import { createDeps } from './deps.ts';
import type { CliIo } from './io.ts';
import { main } from './main.ts';

const io: CliIo = {
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
  env: process.env,
  cwd: process.cwd(),
  isTTY: process.stdout.isTTY === true,
  columns: process.stdout.columns ?? 80,
  nowMs: () => Date.now(),
  onInterrupt(callback) {
    process.on('SIGINT', callback);
    return () => process.off('SIGINT', callback);
  },
};

main(process.argv.slice(2), io, createDeps(io, programVersion())).then(
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
