/** A whole daemon in this process, for benchmarks: threads, store and telemetry on, its log at `warn`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileFlow, Flows } from '../src/actors/flow/index.ts';
import { resolveConfig } from '../src/main/config/index.ts';
import { Daemon } from '../src/main/daemon.ts';
import { startEarly } from '../src/main/early-start.ts';
import { builtInHandlers } from '../src/workers/index.ts';

/** Set to 1 in the environment: the daemon is governed as that of the command line, with a budget out of reach. */
export const GOVERNED = 'COLIBRI_BENCH_GOVERNED';
const GOVERNED_BUDGET_MB = 4096;

export interface BenchDaemon {
  readonly daemon: Daemon;
  readonly dir: string;
  close(): Promise<void>;
}

/** `raw`: a config in the shape of the YAML file. */
export async function startBenchDaemon(raw: Readonly<Record<string, unknown>>): Promise<BenchDaemon> {
  const governed = process.env[GOVERNED] === '1';
  const dir = mkdtempSync(join(tmpdir(), 'colibri-bench-'));
  const { config } = await resolveConfig(
    {
      state_dir: join(dir, 'state'),
      metrics: { listen: '127.0.0.1:0' },
      log: { level: 'warn' },
      // The way of a run, without a disk: what that costs is said by `journal`.
      store: { kind: 'memory' },
      ...(governed ? { memory: { budget_mb: GOVERNED_BUDGET_MB } } : {}),
      ...raw,
    },
    { directory: dir, cores: availableParallelism(), builtIns: builtInHandlers, compileFlow },
  );
  const early = governed ? startEarly() : undefined;
  const daemon = new Daemon({
    config,
    version: 'bench',
    createFlows: (parts) => new Flows(parts),
    ...(early === undefined ? {} : { early }),
  });
  await daemon.start();
  return {
    daemon,
    dir,
    async close() {
      await daemon.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
