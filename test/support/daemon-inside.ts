/** A whole daemon in the test's own process: threads, store, telemetry and all. */
import { join } from 'node:path';
import { compileFlow, Flows } from '../../src/actors/flow/index.ts';
import type { RunView } from '../../src/actors/views/run-view.ts';
import { resolveConfig } from '../../src/main/config/index.ts';
import { Daemon } from '../../src/main/daemon.ts';
import { builtInHandlers } from '../../src/workers/index.ts';
import { type HasAfter, tempDir } from './temp-dir.ts';

export interface Inside {
  readonly daemon: Daemon;
  readonly dir: string;
  /** Triggers and waits for the end. */
  run(task: string, payload?: unknown, force?: boolean): Promise<RunView>;
  /** Triggers; resolves when it is accepted, with the id. */
  trigger(task: string, payload?: unknown, force?: boolean): Promise<string>;
  live(task?: string): Promise<readonly RunView[]>;
}

export async function daemonInside(
  t: HasAfter,
  raw: Readonly<Record<string, unknown>>,
  dir = tempDir(t),
): Promise<Inside> {
  const { config } = await resolveConfig(
    { state_dir: join(dir, 'state'), metrics: { listen: null }, log: { level: 'silent' }, ...raw },
    { directory: dir, cores: 2, builtIns: builtInHandlers, compileFlow },
  );
  const daemon = new Daemon({ config, version: 'test', createFlows: (parts) => new Flows(parts) });
  t.after(() => daemon.stop());
  await daemon.start();
  const ask = async (task: string, payload: unknown, force: boolean, wait: boolean) =>
    daemon.runs.ask(
      'trigger',
      { task, payload: payload === undefined ? null : JSON.stringify(payload), force, wait, dueAtMs: null },
      { timeoutMs: null },
    );
  return {
    daemon,
    dir,
    run: async (task, payload, force = false) => (await ask(task, payload, force, true)).ended!,
    trigger: async (task, payload, force = false) => (await ask(task, payload, force, false)).run,
    live: (task) => daemon.runs.ask('live', { task: task ?? null, state: null, limit: 1000 }),
  };
}
