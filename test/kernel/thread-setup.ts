/** A main system with links to threads; everything is undone at the end of the test. */
import {
  ActorSystem,
  ColibriError,
  type ErrorData,
  type RemoteGate,
  ThreadLink,
  type ThreadLinkOptions,
} from '../../src/actors/kernel/index.ts';
import type { HasAfter } from '../support/temp-dir.ts';
import { catalog } from './fixtures/actors.ts';

export const HOST_FILE = new URL('./fixtures/host-thread.ts', import.meta.url);

export interface ThreadSetup {
  readonly system: ActorSystem;
  readonly gate: Int32Array;
  readonly undeliverable: string[];
  readonly lost: ErrorData[];
  readonly escalated: unknown[];
  link(name: string): ThreadLink;
  /** Resolves when the thread has been started again once more. */
  restarted(): Promise<void>;
}

export async function setUpThreads(
  t: HasAfter,
  placement: Readonly<Record<string, string>>,
  more: Partial<ThreadLinkOptions> = {},
): Promise<ThreadSetup> {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const links = new Map<string, ThreadLink>();
  const undeliverable: string[] = [];
  const lost: ErrorData[] = [];
  const escalated: unknown[] = [];
  let onRestarted: (() => void)[] = [];
  const gone = () => new ColibriError('mailbox-closed', 'expected a thread, got none');
  const router: RemoteGate = {
    trySend: (thread, text) => links.get(thread)?.trySend(text) ?? 'closed',
    send: (thread, text) => links.get(thread)?.send(text) ?? Promise.reject(gone()),
  };
  const system = new ActorSystem({
    thread: 'main',
    placement,
    remote: router,
    onEscalate: (_actor, error) => escalated.push(error),
    onUndeliverable: ({ kind, to }, reason) => undeliverable.push(`${kind} to ${to}: ${reason}`),
  });
  system.spawnPlaced(catalog(gate));
  for (const name of new Set(Object.values(placement).filter((thread) => thread !== 'main'))) {
    const link = new ThreadLink({
      name,
      file: HOST_FILE,
      workerData: { gate: gate.buffer },
      system,
      route: router.send,
      onLost: (cause) => lost.push(cause),
      onRestarted() {
        for (const resolve of onRestarted) resolve();
        onRestarted = [];
      },
      onEscalate: (error) => escalated.push(error),
      ...more,
    });
    links.set(name, link);
  }
  t.after(async () => {
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
    await Promise.all([...links.values()].map((link) => link.stop(2000)));
    await system.close();
  });
  await Promise.all([...links.values()].map((link) => link.start()));
  return {
    system,
    gate,
    undeliverable,
    lost,
    escalated,
    link: (name) => links.get(name)!,
    restarted: () => new Promise((resolve) => onRestarted.push(resolve)),
  };
}
