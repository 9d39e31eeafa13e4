/**
 * A daemon under signals, for the command line: SIGTERM and SIGINT end it in order, a second one at once; a
 * fault that cannot be mended from inside ends it with an exit code of its own.
 */
import { ColibriError, toErrorData } from '../actors/kernel/index.ts';
import type { Config, LoadedConfig, Problem } from './config/index.ts';
import { Daemon } from './daemon.ts';
import type { EarlyStart } from './early-start.ts';
import { endProcessAtOnce } from './end-process.ts';
import { sourceIn } from './reload.ts';

export interface RunDaemonOptions {
  readonly config: Config;
  readonly warnings: readonly Problem[];
  readonly version: string;
  readonly pretty: boolean;
  readonly colours: boolean;
  readonly launchMs: number;
  readonly early: EarlyStart;
  /** Reads the config anew. */
  readonly loadConfig: () => Promise<LoadedConfig>;
}

/** One press of Ctrl-C may come twice: from the terminal, and passed on by npm or `timeout`. */
const SAME_SIGNAL_MS = 100;

/**
 * Resolves with the exit code when the daemon has ended: 0 in order, also where the signal came during the start; 1 after
 * a fault. Rejects with what kept the daemon from starting.
 */
export async function runDaemon(options: RunDaemonOptions): Promise<number> {
  let code = 0;
  const flows = options.config.flows.length === 0 ? null : await import('./flows-part.ts');
  let fault: ColibriError | null = null;
  const ended = Promise.withResolvers<void>();
  const daemon: Daemon = new Daemon({
    config: options.config,
    version: options.version,
    pretty: options.pretty,
    colours: options.colours,
    early: options.early,
    configSource: sourceIn(options.config.file ?? '', options.loadConfig),
    launchMs: options.launchMs,
    ...(flows === null ? {} : { createFlows: (parts) => new flows.Flows(parts) }),
    onFatal: (error) => {
      code = 1;
      fault ??= error;
      void daemon.stop().then(ended.resolve);
    },
  });
  let firstMono: number | null = null;
  const onSignal = (signal: NodeJS.Signals): void => {
    const now = performance.now();
    if (firstMono !== null && now - firstMono < SAME_SIGNAL_MS) return;
    if (firstMono === null) {
      firstMono = now;
      daemon.log('info', 'stopping', { signal, grace_seconds: options.config.shutdown.graceMs / 1000 });
      void daemon.stop().then(ended.resolve);
    } else {
      daemon.log('warn', 'stopping at once', { signal });
      void daemon.kill().then(ended.resolve);
    }
  };
  // A closed terminal must not end the daemon without its stop. The handlers stay: one more signal on the way
  // out must not end the process with another code.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal);
  process.on('uncaughtException', (error: unknown) => {
    code = 1;
    daemon.log('error', 'fault of the daemon', { error: toErrorData(error, 'internal').message });
    // A reader that is gone must not end the daemon. Where nothing is written, no stream is made for it.
    process.stderr
      .on('error', () => {})
      .write(`colibri: fault of the daemon: ${error instanceof Error ? error.stack : String(error)}\n`);
    void daemon.stop().then(ended.resolve);
  });
  try {
    await daemon.start();
  } catch (error) {
    const stopped = error instanceof ColibriError && error.code === 'shutting-down';
    if (!stopped || code !== 0) throw fault ?? error;
  }
  for (const { file, line, column, message } of options.warnings) {
    daemon.log('warn', 'config', { place: `${file}:${line}:${column}`, problem: message });
  }
  await ended.promise;
  if (daemon.hasStuckThreads) endProcessAtOnce(code);
  return code;
}
