/** The real parts behind the commands. Each is loaded when a command needs it. */
import { availableParallelism } from 'node:os';
import type { CliDeps, CliIo } from './io.ts';

export function createDeps(io: CliIo, version: string): CliDeps {
  return {
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
        env: io.env,
        cores: availableParallelism(),
        builtIns: builtInHandlers,
        checkCron: cronProblem,
        nowMs: io.nowMs(),
      });
    },
    formatProblem: ({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`,
    async runDaemon(loaded) {
      const { runDaemon } = await import('../run-daemon.ts');
      const colours = io.isTTY && !io.env.NO_COLOR;
      return runDaemon({ ...loaded, version, pretty: io.isTTY, colours });
    },
  };
}
