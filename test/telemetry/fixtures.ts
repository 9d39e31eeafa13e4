/** What the tests of telemetry share: a device with faults, a view, and the actor without a system around it. */
import type {
  ActorContext,
  ActorRef,
  Answer,
  Behaviour,
  Clock,
  EnvelopeOf,
  Messages,
} from '../../src/actors/kernel/index.ts';
import type { TelemetryMessages } from '../../src/actors/protocol.ts';
import type { RunEvent } from '../../src/actors/records.ts';
import type { DeviceChunk, LineDevice } from '../../src/actors/telemetry/line-writer.ts';
import { type TelemetryOptions, telemetryActor } from '../../src/actors/telemetry/telemetry-actor.ts';
import type { RuntimeView } from '../../src/actors/views/runtime-view.ts';

/** Keeps what is written; fails or holds as it is told. */
export class FakeDevice implements LineDevice {
  text = '';
  /** The code that every write fails with; null: it works. */
  fault: string | null = null;
  /** True: writes wait for `release`. */
  held = false;
  /** True: every second write finds no room. */
  busyEverySecond = false;
  attempts = 0;
  closed = false;
  /** The most that one write takes. */
  most = Number.POSITIVE_INFINITY;
  #waiting: (() => void)[] = [];

  get lines(): Record<string, unknown>[] {
    return this.text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  write(chunk: DeviceChunk, done: (error: NodeJS.ErrnoException | null, written: number) => void): void {
    const attempt = ++this.attempts;
    const finish = (): void => {
      const fault = this.busyEverySecond && attempt % 2 === 0 ? 'EAGAIN' : this.fault;
      if (fault !== null) return done(Object.assign(new Error(fault), { code: fault }), 0);
      done(null, this.writeSync(chunk));
    };
    if (this.held) this.#waiting.push(finish);
    else queueMicrotask(finish);
  }

  writeSync(chunk: DeviceChunk): number {
    const length = Math.min(chunk.length, this.most);
    this.text += chunk.bytes.toString('latin1', chunk.offset, chunk.offset + length);
    return length;
  }

  release(): void {
    this.held = false;
    for (const finish of this.#waiting.splice(0)) finish();
  }

  close(): void {
    this.closed = true;
  }
}

export function event(fields: Partial<RunEvent> = {}): RunEvent {
  return { run: 'hash@1', task: 'hash', state: 'success', attempt: 1, atMs: Date.UTC(2026, 0, 1), ...fields };
}

export function runtimeView(fields: Partial<RuntimeView> = {}): RuntimeView {
  return {
    pid: 42,
    bounds: [],
    pressures: [],
    version: '0.1.0',
    configVersion: '2026-11-01',
    configFile: '/etc/colibri/config.yaml',
    startedAtMs: Date.UTC(2026, 0, 1),
    readyMs: 90,
    stopping: false,
    queues: [
      { name: 'ready', depth: 3, capacity: 15_000, rejected: 1 },
      { name: 'delayed', depth: 0, capacity: 20_000, rejected: 0 },
      { name: 'retry', depth: 1, capacity: 2000, rejected: 0 },
      { name: 'dead-letter', depth: 2, capacity: 2000, rejected: 0 },
    ],
    pools: [
      { name: 'cpu', slots: 2, active: 1, threads: 1, busyRatio: 0.5 },
      { name: 'io', slots: 10, active: 0, threads: 1, busyRatio: 0 },
    ],
    tasks: [],
    liveRuns: 5,
    threadRestarts: { cpu: 1 },
    clockJumps: { forward: 1, backward: 0, suspend: 2, stall: 0 },
    loopDelay: { p50: 0.0001, p99: 0.002, max: 0.004 },
    undeliverable: { telemetry: 0 },
    lastUndeliverable: [],
    memory: {
      rss: 30_000_000,
      anon: 22_000_000,
      file: 8_000_000,
      budget: 41_943_040,
      steps: { release: 12, collect: 3, shrink: 0, grow: 0 },
    },
    lateOutcomes: 0,
    flows: [],
    liveFlowsBytes: 0,
    configReloadOk: true,
    store: { kind: 'sqlite', writable: true, unrecorded: 3, reason: null },
    ...fields,
  };
}

export interface Rig {
  readonly behaviour: Behaviour<TelemetryMessages>;
  readonly device: FakeDevice;
  readonly warnings: string[];
  /** Delivers a message and resolves with the answer, or null for a tell. */
  send<K extends keyof TelemetryMessages>(kind: K, body: TelemetryMessages[K]['body']): Promise<unknown>;
  lines(): Promise<Record<string, unknown>[]>;
}

/** The actor with a clock that stands still and a device in memory. `view` answers for main. */
export function rig(
  clock: Clock,
  options: Partial<TelemetryOptions> = {},
  view = async () => runtimeView(),
): Rig {
  const device = new FakeDevice();
  const warnings: string[] = [];
  const definition = telemetryActor({
    log: { level: 'debug', file: null, maxBytes: 1e6, keepDays: 1, pretty: false, colours: false },
    metrics: null,
    configVersion: 'v1',
    tasks: ['hash', 'copy'],
    device,
    warn: (text) => warnings.push(text),
    uptimeSeconds: () => 12.5,
    ...options,
  });
  const ref = <N extends Messages>(name: string): ActorRef<N> => ({
    name,
    tell: async () => {},
    tryTell: () => 'delivered',
    ask: async () => (await view()) as N[string]['reply'],
  });
  const system = { mailboxes: () => [{ actor: 'store', depth: 1, bytes: 77 }] };
  const behaviour = definition.create({ clock, ref, system } as unknown as ActorContext);
  const send: Rig['send'] = async (kind, body) => {
    let failure: unknown = null;
    let value: unknown = null;
    const answer: Answer = {
      ok: (given) => {
        value = given;
      },
      fail: (error) => {
        failure = error;
      },
    };
    const envelope = {
      id: 1,
      kind,
      from: 'test',
      to: 'telemetry',
      thread: 'main',
      deadlineAtMs: null,
      attempt: 1,
    };
    await behaviour.receive({ ...envelope, question: true, body } as EnvelopeOf<TelemetryMessages>, answer);
    if (failure !== null) throw failure;
    return value;
  };
  return {
    behaviour,
    device,
    warnings,
    send,
    async lines() {
      await send('flush', null);
      return device.lines;
    },
  };
}
