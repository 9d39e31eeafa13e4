/** The links to the threads with actors: what each starts from, and what becomes of its pools when it is lost. */
import { type ActorSystem, systemClock, ThreadLink } from '../actors/kernel/index.ts';
import { type LogRecord, ThreadName } from '../actors/protocol.ts';
import { blockedBy, blockedFields, type IoPool, startThread } from '../workers/index.ts';
import type { Config } from './config/index.ts';
import { type EarlyStart, HOST_LIMITS } from './early-start.ts';
import type { Router } from './router.ts';
import { hostSettings, type Shared } from './thread-settings.ts';

export interface ThreadLinkParts {
  readonly config: Config;
  readonly pretty: boolean;
  readonly colours: boolean;
  readonly early: EarlyStart | null;
  readonly system: ActorSystem;
  readonly router: Router;
  readonly shared: Shared;
  readonly log: (level: LogRecord['level'], msg: string, fields: LogRecord['fields']) => void;
  /** It cannot be kept running. */
  readonly onFatal: (message: string, cause: unknown) => void;
  readonly onRestarted: (thread: ThreadName) => void;
}

/**
 * A user's module may cost its thread again and again: each run that does so ends with its own budget, and only a
 * thread that cannot live at all ends the daemon.
 */
const GUEST_RESTARTS = { maxRestarts: 600, withinMs: 60_000 };

/** `pools`: those whose runs are on this thread. */
export function createThreadLink(
  name: ThreadName,
  pools: readonly IoPool[],
  parts: ThreadLinkParts,
): ThreadLink {
  const { config, early, system, router, shared, log } = parts;
  const { begun } = shared;
  const isGuest = name === ThreadName.Guest;
  const look = { pretty: parts.pretty, colours: parts.colours };
  return new ThreadLink({
    name,
    file: (start) =>
      (name === ThreadName.Service ? early?.takeService(start) : null) ?? startThread('host', start),
    workerData: { settings: hostSettings(config, shared, look) },
    resourceLimits: HOST_LIMITS,
    system,
    route: (thread, text) => router.send(thread, text),
    clock: systemClock,
    ...(isGuest ? { restart: GUEST_RESTARTS } : {}),
    onLost(cause, sight) {
      const run = blockedBy(sight, isGuest ? begun.run : null);
      const inFlight = pools.flatMap((pool) => pool.inFlight);
      const fields = blockedFields(sight, run, inFlight);
      log('error', 'thread lost', { thread: name, error: cause.message, ...fields });
      begun.leave();
      for (const pool of pools) pool.threadLost(cause, run);
    },
    onRestarted() {
      for (const pool of pools) pool.threadReady();
      parts.onRestarted(name);
    },
    onEscalate: (error) => parts.onFatal(`thread ${name} cannot be kept running`, error),
  });
}
