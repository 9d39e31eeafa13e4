/**
 * All that only loading a config needs: YAML, cron expressions, schemas. Whoever imports it lets go of it when the
 * config is there: in a build it is a part of its own, and its memory is given back.
 */
import { availableParallelism } from 'node:os';
import type { SizeView } from '../actors/protocol.ts';
import { builtInHandlers } from '../workers/index.ts';
import { type Config, type LoadedConfig, loadConfig } from './config/index.ts';
import { ledger } from './memory/index.ts';
import { parseCron } from './schedule/parse/index.ts';

export { findConfigFile, stateDirOf } from './config/index.ts';

export interface ConfigSource {
  /** As the user named it. */
  readonly file: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly nowMs: number;
}

/** With this machine's cores and the handlers of this version. Rejects with `config-invalid`. */
export function loadConfigFile({ file, env, nowMs }: ConfigSource): Promise<LoadedConfig> {
  const cores = availableParallelism();
  return loadConfig({ file, env, cores, builtIns: builtInHandlers, parseCron, nowMs });
}

/** What the memory ledger says of a config, without a daemon. */
export function sizeOf(config: Config): SizeView {
  return ledger(config, availableParallelism(), null);
}
