/** The real parts behind the commands. Each is loaded when a command needs it. */
import { type EarlyStart, startEarly } from '../early-start.ts';
import type { CliDeps, CliIo } from './io.ts';

/** `launchMs`: between the start of the launcher and that of the runtime. */
export function createDeps(io: CliIo, version: string, launchMs = 0): CliDeps {
  let configPart: Promise<typeof import('../config-part.ts')> | null = null;
  const loadConfigPart = () => {
    configPart ??= import('../config-part.ts');
    return configPart;
  };
  let early: EarlyStart | null = null;
  return {
    version,
    async findConfigFile(cwd) {
      const { findConfigFile } = await loadConfigPart();
      return findConfigFile(cwd);
    },
    async loadConfig(file, { lookAhead = false } = {}) {
      const { loadConfigFile } = await loadConfigPart();
      return loadConfigFile({ file, env: io.env, nowMs: io.nowMs(), lookAhead });
    },
    async sizeOf(config) {
      const { sizeOf } = await loadConfigPart();
      return sizeOf(config);
    },
    async previewOf(task, question) {
      const { previewTask } = await loadConfigPart();
      return previewTask(task, question);
    },
    async stateDirOf(file) {
      const { stateDirOf } = await loadConfigPart();
      return stateDirOf(file, io.env);
    },
    loadFlows: () => import('../flows-part.ts'),
    formatProblem: ({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`,
    prepareDaemon() {
      early = startEarly();
      return early.abandon;
    },
    async runDaemon(loaded) {
      // A daemon must not hold for months what only its start needed.
      configPart = null;
      const { runDaemon } = await import('../run-daemon.ts');
      const colours = io.isTTY && !io.env.NO_COLOR;
      const { file } = loaded.config;
      return runDaemon({
        ...loaded,
        version,
        pretty: io.isTTY,
        colours,
        launchMs,
        early: early ?? startEarly(),
        async loadConfig() {
          const { loadConfigFile } = await import('../config-part.ts');
          // It was compiled and run just now: the rest is for the next turn.
          await new Promise(setImmediate);
          return loadConfigFile({ file: file ?? '', env: io.env, nowMs: io.nowMs() });
        },
      });
    },
  };
}
