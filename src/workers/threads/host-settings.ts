/** What main gives to a hosting thread beside its name and the placement: plain data. */
import type { Retention } from '../../actors/store/index.ts';
import type { TelemetryOptions } from '../../actors/telemetry/index.ts';
import type { UserModule } from '../registry.ts';

export interface HostSettings {
  readonly telemetry: Omit<TelemetryOptions, 'device' | 'warn' | 'uptimeSeconds'>;
  readonly store: Retention;
  readonly control: { readonly socketPath: string };
  readonly io: { readonly maxSlots: number };
  readonly modules: readonly UserModule[];
}
