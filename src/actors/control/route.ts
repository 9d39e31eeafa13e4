/** What a route of the control socket is, and what it is given. */
import type { ActorRef } from '../kernel/index.ts';
import type { RunsMessages, StoreMessages } from '../protocol.ts';
import type { AuditEntry } from '../records.ts';

/** Whom the routes ask, and the seats of what they cannot do themselves. */
export interface RouteContext {
  readonly runs: ActorRef<RunsMessages>;
  readonly store: ActorRef<StoreMessages>;
  readonly wallMs: () => number;
  /** Begins the orderly stop of the daemon; returns at once. */
  readonly onStop: () => void;
  /** Writes down what a user has done: in the log and in the audit trail. Never rejects. */
  readonly audit: (entry: AuditEntry) => Promise<void>;
}

export interface Route {
  readonly method: 'GET' | 'POST';
  /** `:run` stands for one segment. */
  readonly path: string;
  readonly answer: (request: RouteRequest, context: RouteContext) => Promise<unknown>;
}

export interface RouteRequest {
  readonly query: URLSearchParams;
  /** Of the path; empty where it has none. */
  readonly run: string;
  /** Parsed JSON; null for a GET or an empty body. */
  readonly body: unknown;
  /** Who asks, as the client says: `name (uid)`. */
  readonly user: string;
}
