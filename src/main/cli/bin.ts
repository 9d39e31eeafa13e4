/** The command `colibri`: hands the real terminal and the real parts to `main`. */
import { availableParallelism } from 'node:os';
import { programVersion } from '../version.ts';
import type { CliDeps, CliIo } from './io.ts';
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

const version = programVersion();

/** Everything is loaded when a command needs it, so that each loads only what it uses. */
const deps: CliDeps = {
  version,
  async findConfigFile(cwd) {
    const { findConfigFile } = await import('../config/index.ts');
    return findConfigFile(cwd);
  },
  async loadConfig(file) {
    const { loadConfig } = await import('../config/index.ts');
    const { builtInHandlers } = await import('../../workers/index.ts');
    const { cronProblem } = await import('../schedule/index.ts');
    return loadConfig({
      file,
      env: process.env,
      cores: availableParallelism(),
      builtIns: builtInHandlers,
      checkCron: cronProblem,
    });
  },
  formatProblem: ({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`,
  async runDaemon(loaded) {
    const { runDaemon } = await import('../run-daemon.ts');
    const colours = io.isTTY && !process.env.NO_COLOR;
    return runDaemon({ ...loaded, version, pretty: io.isTTY, colours });
  },
};

main(process.argv.slice(2), io, deps).then(
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
