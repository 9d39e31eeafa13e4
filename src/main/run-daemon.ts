/**
 * A daemon under signals, for the command line: SIGTERM and SIGINT end it in order, a second one at once; a
 * fault that cannot be mended from inside ends it with an exit code of its own.
 */
import { toErrorData } from '../actors/kernel/index.ts';
import type { Config, Problem } from './config/index.ts';
import { Daemon } from './daemon.ts';

export interface RunDaemonOptions {
  readonly config: Config;
  readonly warnings: readonly Problem[];
  readonly version: string;
  readonly pretty: boolean;
  readonly colours: boolean;
}

/** Resolves with the exit code when the daemon has ended: 0 in order, 1 after a fault. */
export async function runDaemon(options: RunDaemonOptions): Promise<number> {
  let code = 0;
  const ended = Promise.withResolvers<void>();
  const daemon: Daemon = new Daemon({
    config: options.config,
    version: options.version,
    pretty: options.pretty,
    colours: options.colours,
    onFatal: () => {
      code = 1;
      void daemon.stop().then(ended.resolve);
    },
  });
  let signals = 0;
  const onSignal = (signal: NodeJS.Signals): void => {
    signals++;
    if (signals === 1) {
      daemon.log('info', 'stopping', { signal, grace_seconds: options.config.shutdown.graceMs / 1000 });
      void daemon.stop().then(ended.resolve);
    } else {
      daemon.log('warn', 'stopping at once', { signal });
      void daemon.kill().then(ended.resolve);
    }
  };
  // A closed terminal must not end the daemon without its stop.
  const handled = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
  for (const signal of handled) process.on(signal, onSignal);
  const onUncaught = (error: unknown): void => {
    code = 1;
    daemon.log('error', 'fault of the daemon', { error: toErrorData(error, 'internal').message });
    process.stderr.write(
      `colibri: fault of the daemon: ${error instanceof Error ? error.stack : String(error)}\n`,
    );
    void daemon.stop().then(ended.resolve);
  };
  process.on('uncaughtException', onUncaught);
  try {
    await daemon.start();
    for (const { file, line, column, message } of options.warnings) {
      daemon.log('warn', 'config', { place: `${file}:${line}:${column}`, problem: message });
    }
    await ended.promise;
    return code;
  } finally {
    for (const signal of handled) process.off(signal, onSignal);
    process.off('uncaughtException', onUncaught);
  }
}
