/**
 * What the service thread and the guest thread start from: the same host with other actors in it. The
 * placement says which; only what those need is loaded.
 */
import { parentPort, workerData } from 'node:worker_threads';
import {
  type ActorSystem,
  type AnyActorDefinition,
  type HostData,
  MemoryShort,
  runThreadHost,
  SharedMark,
} from '../../actors/kernel/index.ts';
import {
  ActorName,
  type LogRecord,
  type StoreMessages,
  type TelemetryMessages,
} from '../../actors/protocol.ts';
import { ResultFolder } from '../../actors/results/result-folder.ts';
import { captureOutput } from '../capture-output.ts';
import type { OfferItems } from '../handlers/index.ts';
import { BegunRun } from '../io-pool/begun-run.ts';
import { ioActor } from '../io-pool/io-actor.ts';
import { LogLimiter } from '../log-limiter.ts';
import { Registry } from '../registry.ts';
import type { HostSettings } from './host-settings.ts';

type Catalog = Readonly<Record<string, () => Promise<AnyActorDefinition>>>;

/** Made only for actors that live here. `offer` is called by scans, when the actors run. */
function catalogOf(settings: HostSettings, offer: OfferItems): Catalog {
  const mark = new SharedMark(settings.mark);
  const results = settings.results === null ? null : new ResultFolder(settings.results);
  return {
    [ActorName.Telemetry]: async () => {
      const { telemetryActor } = await import('../../actors/telemetry/index.ts');
      return telemetryActor(settings.telemetry);
    },
    [ActorName.Store]: async () => {
      const { MemoryStore, SqliteStore, storeActor } = await import('../../actors/store/index.ts');
      const { kind, retention, file, durability } = settings.store;
      const openStore = () =>
        kind === 'memory'
          ? new MemoryStore(retention, Date.now)
          : new SqliteStore({ file, retention, durability, nowMs: Date.now });
      return storeActor({ openStore, mark, results });
    },
    [ActorName.Control]: async () => {
      const { controlActor } = await import('../../actors/control/index.ts');
      // The signal is the one way in which a daemon is asked to stop.
      const onStop = () => void process.kill(process.pid, 'SIGTERM');
      return controlActor({ ...settings.control, onStop });
    },
    [ActorName.Io]: async () => {
      const { builtInHandlers, createScanHandler } = await import('../handlers/index.ts');
      const builtIns = [...builtInHandlers, createScanHandler(offer)];
      return ioActor({
        name: 'io',
        registry: new Registry({ builtIns, modules: [] }),
        reportTo: 'runs',
        maxSlots: settings.io.maxSlots,
        mark,
        results,
      });
    },
    [ActorName.Guest]: async () =>
      ioActor({
        name: 'guest',
        registry: new Registry({ builtIns: [], modules: settings.modules }),
        reportTo: 'runs',
        maxSlots: settings.io.maxSlots,
        mark,
        results,
        begun: new BegunRun(settings.begun),
      }),
  };
}

async function startHost(): Promise<void> {
  const data = await givenData();
  const { settings, placement, thread } = data;
  const catalog = catalogOf(settings, (task, items) =>
    system.ref<StoreMessages>(ActorName.Store).ask('offer', { task, items }, { timeoutMs: null }),
  );
  const definitions: AnyActorDefinition[] = [];
  for (const [name, create] of Object.entries(catalog)) {
    if (placement[name] === thread) definitions.push(await create());
  }
  const short = new MemoryShort(settings.short);
  const system = runThreadHost({ data, definitions, isShort: () => short.isShort });
  if (placement[ActorName.Guest] === thread) logOutput(system, thread);
}

/** A thread that was started before it was known what for gets its data later, and loads what the service needs. */
function givenData(): Promise<HostData & { readonly settings: HostSettings }> {
  if (workerData !== null) return Promise.resolve(workerData);
  return new Promise((resolve) => {
    parentPort?.once('message', resolve);
    void import('../../actors/telemetry/index.ts');
    void import('../../actors/store/index.ts');
    void import('../../actors/control/index.ts');
    process.getBuiltinModule('node:http');
  });
}

/** What users' modules print goes to the log. */
function logOutput(system: ActorSystem, thread: string): void {
  const telemetry = system.ref<TelemetryMessages>(ActorName.Telemetry);
  const write = (record: LogRecord) => void telemetry.tryTell('log', record);
  const limiter = new LogLimiter({ clock: system.clock, thread, write });
  captureOutput((level, msg) => {
    if (limiter.take()) write({ level, atMs: system.clock.wallMs(), msg, fields: { thread, printed: true } });
  });
}

void startHost();
