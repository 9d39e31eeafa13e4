/** What a thread link is made with, and what it shows of itself. */
import type { ResourceLimits } from 'node:worker_threads';
import type { RemoteGate } from './actor-ref.ts';
import type { ActorSystem } from './actor-system.ts';
import type { Clock } from './clock.ts';
import type { ChannelStats, Credit } from './credit-channel.ts';
import type { ColibriError, ErrorData } from './errors.ts';
import type { RestartIntensity } from './supervisor.ts';
import type { Heartbeat, StartThread } from './thread-life.ts';
import type { ThreadSight } from './thread-sight.ts';

export interface ThreadLinkOptions {
  /** Of the thread, as in the placement table. */
  readonly name: string;
  /** The file that the thread starts from, or what starts it otherwise; it must call `runThreadHost`. */
  readonly file: string | URL | StartThread;
  /** Given to the thread beside what the kernel gives it (`HostData`). */
  readonly workerData?: Readonly<Record<string, unknown>>;
  readonly resourceLimits?: ResourceLimits;
  readonly system: ActorSystem;
  /** The way to third threads: what this one sends there goes through here. */
  readonly route: RemoteGate['send'];
  /** What each side may send before the other has handled it. Default 4096 messages, 4 MiB. */
  readonly credit?: Credit;
  /** Default every 1000 ms, lost after 5000 ms. */
  readonly heartbeat?: Heartbeat;
  readonly restart?: RestartIntensity;
  /** A thread that is not ready by then is lost. Default 30 000 ms. */
  readonly startTimeoutMs?: number;
  readonly clock?: Clock;
  /** `sight`: what it was doing, where it was lost for being blocked and could be looked at. */
  readonly onLost?: (cause: ErrorData, sight: ThreadSight | null) => void;
  readonly onRestarted?: () => void;
  readonly onEscalate: (error: ColibriError) => void;
}

export const ThreadState = {
  Stopped: 'stopped',
  Starting: 'starting',
  Running: 'running',
  Stopping: 'stopping',
} as const;
export type ThreadState = (typeof ThreadState)[keyof typeof ThreadState];

export interface ThreadStats extends ChannelStats {
  readonly thread: string;
  readonly state: ThreadState;
  readonly restarts: number;
  /** Worst delay of its event loop in the last beat. */
  readonly loopDelayMs: number;
  /** What its heap used at its last beat. */
  readonly heapBytes: number;
  /** Frames and envelopes that were refused because of their shape. */
  readonly malformed: number;
}
