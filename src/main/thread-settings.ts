/** What threads are told when they start: settings that follow from the config, and the memory that they share with main. */
import { join } from 'node:path';
import { MemoryShort, SharedMark } from '../actors/kernel/index.ts';
import type { ResultFolderOptions } from '../actors/results/result-folder.ts';
import { ResultRoom } from '../actors/results/result-room.ts';
import { BegunRun, type HostSettings, MEASURED_MAX_SLOTS } from '../workers/index.ts';
import type { Config } from './config/index.ts';
import { historyBytes } from './memory/index.ts';

/** Scans at one time; they are bound by the disk. */
export const SCAN_SLOTS = 2;

export interface Shared {
  /** How far the journal has come. */
  readonly mark: SharedMark;
  readonly short: MemoryShort;
  /** What runs on the guest thread. */
  readonly begun: BegunRun;
  /** Null: there is no folder, or none is wanted. */
  readonly results: ResultFolderOptions | null;
}

export function createShared(config: Config, isEmbedded: boolean): Shared {
  return {
    mark: new SharedMark(),
    short: new MemoryShort(),
    begun: new BegunRun(),
    results: resultFolder(config, isEmbedded),
  };
}

/** Half of its room is for results of the past, the rest for those that are in use. */
function resultFolder(config: Config, isEmbedded: boolean): ResultFolderOptions | null {
  const { stateDir, retention, store } = config;
  const hasFolder = !isEmbedded || store.kind !== 'memory';
  if (retention.resultFilesBytes === 0 || !hasFolder) return null;
  const { memory } = new ResultRoom(retention.resultFilesBytes);
  return { dir: join(stateDir, 'results'), capacityBytes: retention.resultFilesBytes, room: memory };
}

/** Of a thread with actors. */
export function hostSettings(
  config: Config,
  { mark, short, begun, results }: Shared,
  look: { readonly pretty: boolean; readonly colours: boolean },
): HostSettings {
  const { sizing, slots } = config.pools.io;
  return {
    telemetry: {
      log: { ...config.log, ...look },
      metrics: config.metrics,
      configVersion: config.version,
      tasks: [...config.tasks, ...config.flows].map(({ name }) => name),
    },
    store: {
      ...config.store,
      file: join(config.stateDir, 'journal.db'),
      retention: {
        ...config.retention,
        maxBytes: historyBytes(config),
        fileBytes: Math.floor(config.retention.resultFilesBytes / 2),
      },
    },
    mark: mark.memory,
    short: short.memory,
    control: { socketPath: join(config.stateDir, 'control.sock') },
    io: { maxSlots: SCAN_SLOTS + (sizing === 'measured' ? MEASURED_MAX_SLOTS : slots) },
    results,
    modules: config.modules,
    begun: begun.memory,
  };
}
