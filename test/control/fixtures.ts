/** The control actor among actors that are functions, and a bare HTTP client for its socket. */
import { request } from 'node:http';
import { join } from 'node:path';
import { controlActor } from '../../src/actors/control/index.ts';
import {
  type ActorContext,
  type ActorRef,
  type Answer,
  ColibriError,
  type EnvelopeOf,
  type Messages,
  TestClock,
} from '../../src/actors/kernel/index.ts';
import type { ControlMessages, LogRecord } from '../../src/actors/protocol.ts';
import type { AuditEntry } from '../../src/actors/records.ts';
import type { RunView } from '../../src/actors/views/run-view.ts';
import { type HasAfter, tempDir } from '../support/temp-dir.ts';

/** Answers for an actor: by the kind of the question. */
export type FakeActor = Record<string, (body: never, timeoutMs: number | null | undefined) => unknown>;

export interface Asked {
  readonly actor: string;
  readonly kind: string;
  readonly body: unknown;
}

export interface ControlRig {
  readonly socketPath: string;
  readonly asked: Asked[];
  /** Lines of the log, as their fields. */
  readonly logged: Readonly<Record<string, unknown>>[];
  /** What the store was told for the audit trail. */
  readonly trail: AuditEntry[];
  readonly clock: TestClock;
  stops: number;
  open(): Promise<void>;
  close(): Promise<void>;
}

/** Opened; closed at the end of the test. */
export async function controlRig(
  t: HasAfter,
  actors: Record<string, FakeActor>,
  socketPath = join(tempDir(t), 'control.sock'),
): Promise<ControlRig> {
  const made = control(actors, socketPath);
  t.after(() => made.close());
  await made.open();
  return made;
}

export function control(actors: Record<string, FakeActor>, socketPath: string): ControlRig {
  const asked: Asked[] = [];
  const logged: Readonly<Record<string, unknown>>[] = [];
  const trail: AuditEntry[] = [];
  const clock = new TestClock();
  const ref = <N extends Messages>(actor: string): ActorRef<N> => ({
    name: actor,
    async tell(kind, body) {
      if (kind !== 'audit')
        throw new ColibriError('internal', `expected only entries of the trail, got ${kind}`);
      await actors[actor]?.[kind]?.(body as never, null);
      trail.push(body as unknown as AuditEntry);
    },
    tryTell(_kind, body) {
      const { msg, fields } = body as unknown as LogRecord;
      logged.push({ msg, ...fields });
      return 'delivered';
    },
    async ask(kind, body, options) {
      asked.push({ actor, kind, body });
      const answer = actors[actor]?.[kind];
      if (answer === undefined) throw new ColibriError('internal', `nobody answers ${actor}.${kind}`);
      return answer(body as never, options?.timeoutMs) as Promise<N[typeof kind]['reply']>;
    },
  });
  const made: ControlRig = {
    socketPath,
    asked,
    logged,
    trail,
    clock,
    stops: 0,
    open: () => send('open'),
    close: () => send('close'),
  };
  const definition = controlActor({
    socketPath,
    onStop: () => {
      made.stops++;
    },
  });
  const behaviour = definition.create({ clock, ref } as unknown as ActorContext);
  const send = async (kind: 'open' | 'close'): Promise<void> => {
    let failure: unknown = null;
    const answer: Answer = {
      ok: () => {},
      fail: (error) => {
        failure = error;
      },
    };
    await behaviour.receive({ kind, body: null } as EnvelopeOf<ControlMessages>, answer);
    if (failure !== null) throw failure;
  };
  return made;
}

export interface HttpAnswer {
  readonly status: number;
  readonly document: unknown;
  readonly allow: string | undefined;
}

export function http(
  socketPath: string,
  method: string,
  path: string,
  body?: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ socketPath, method, path, headers, agent: false }, (response) => {
      let text = '';
      response.on('data', (piece) => {
        text += piece;
      });
      response.on('end', () => {
        const { statusCode = 0, headers } = response;
        resolve({ status: statusCode, document: JSON.parse(text), allow: headers.allow });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

export function runView(run: string, fields: Partial<RunView> = {}): RunView {
  return {
    run,
    task: 'hash',
    state: 'success',
    attempt: 1,
    origin: 'schedule',
    createdAtMs: Date.UTC(2026, 0, 1),
    startedAtMs: Date.UTC(2026, 0, 1, 0, 0, 1),
    endedAtMs: Date.UTC(2026, 0, 1, 0, 0, 2),
    durationMs: 12.5,
    dueAtMs: null,
    input: '{"path":"a"}',
    result: '{"digest":"00"}',
    error: null,
    progress: null,
    attempts: [],
    flow: null,
    note: null,
    ...fields,
  };
}
