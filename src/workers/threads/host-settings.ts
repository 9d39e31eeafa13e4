/** What main gives to a hosting thread beside its name and the placement: plain data. */
import type { ResultFolderOptions } from '../../actors/results/result-folder.ts';
import type { Retention } from '../../actors/store/index.ts';
import type { TelemetryOptions } from '../../actors/telemetry/index.ts';
import type { UserModule } from '../registry.ts';

export interface HostSettings {
  readonly telemetry: Omit<TelemetryOptions, 'device' | 'warn' | 'uptimeSeconds'>;
  readonly store: {
    readonly kind: 'memory' | 'sqlite';
    readonly durability: 'process' | 'power';
    /** Absolute path of the journal; its folder exists. */
    readonly file: string;
    readonly retention: Retention;
  };
  /** Memory of the `SharedMark` that says how far the journal has come. */
  readonly mark: SharedArrayBuffer;
  /** Memory of the `MemoryShort` that main sets. */
  readonly short: SharedArrayBuffer;
  readonly control: { readonly socketPath: string };
  readonly io: { readonly maxSlots: number };
  /** Null: large results are refused. */
  readonly results: ResultFolderOptions | null;
  readonly modules: readonly UserModule[];
  /** Memory of the `BegunRun` of the thread that runs them. */
  readonly begun: SharedArrayBuffer;
}
