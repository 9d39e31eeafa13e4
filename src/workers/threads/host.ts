/**
 * What the service thread and the guest thread start from: the same host with other actors in it. The
 * placement says which; only what those need is loaded.
 */
import { workerData } from 'node:worker_threads';
import {
  type ActorSystem,
  type AnyActorDefinition,
  type HostData,
  runThreadHost,
} from '../../actors/kernel/index.ts';
import { ActorName, type StoreMessages } from '../../actors/protocol.ts';
import { ioActor } from '../io-pool/io-actor.ts';
import { Registry } from '../registry.ts';
import type { HostSettings } from './host-settings.ts';

const data = workerData as HostData & { readonly settings: HostSettings };

/** Made only for actors that live here. */
const catalog: Readonly<Record<string, (settings: HostSettings) => Promise<AnyActorDefinition>>> = {
  [ActorName.Telemetry]: async ({ telemetry }) => {
    const { telemetryActor } = await import('../../actors/telemetry/index.ts');
    return telemetryActor(telemetry);
  },
  [ActorName.Store]: async ({ store }) => {
    const { MemoryStore, storeActor } = await import('../../actors/store/index.ts');
    return storeActor(() => new MemoryStore(store, Date.now));
  },
  [ActorName.Control]: async ({ control }) => {
    const { controlActor } = await import('../../actors/control/index.ts');
    // The signal is the one way in which a daemon is asked to stop.
    const onStop = () => void process.kill(process.pid, 'SIGTERM');
    return controlActor({ ...control, onStop });
  },
  [ActorName.Io]: async ({ io }) => {
    const { builtInHandlers, createScanHandler } = await import('../handlers/index.ts');
    const scan = createScanHandler((task, parent, items) =>
      system.ref<StoreMessages>(ActorName.Store).ask('offer', { task, parent, items }, { timeoutMs: null }),
    );
    const registry = new Registry({ builtIns: [...builtInHandlers, scan], modules: [] });
    return ioActor({
      name: 'io',
      registry,
      reportTo: 'runs',
      maxSlots: io.maxSlots,
    });
  },
  [ActorName.Guest]: async ({ modules, io }) => {
    const registry = new Registry({ builtIns: [], modules });
    return ioActor({
      name: 'guest',
      registry,
      reportTo: 'runs',
      maxSlots: io.maxSlots,
    });
  },
};

/** Set before any handler can ask for it. */
let system: ActorSystem;

async function startHost(): Promise<void> {
  const definitions: AnyActorDefinition[] = [];
  for (const [name, create] of Object.entries(catalog)) {
    if (data.placement[name] === data.thread) definitions.push(await create(data.settings));
  }
  system = runThreadHost({ definitions });
}

void startHost();
