/** The store's actor in a system of its own, between those that it tells things: all that it says, in order. */
import {
  type ActorDefinition,
  type ActorRef,
  ActorSystem,
  type Messages,
  SharedMark,
  TestClock,
} from '../../src/actors/kernel/index.ts';
import { MAILBOXES } from '../../src/actors/mailboxes.ts';
import type { OfferBody, OfferReply, StoreMessages } from '../../src/actors/protocol.ts';
import type { RunEvent } from '../../src/actors/records.ts';
import type { ResultFolder } from '../../src/actors/results/result-folder.ts';
import { SqliteStore, type Store, storeActor } from '../../src/actors/store/index.ts';
import type { HasAfter } from '../support/temp-dir.ts';
import { FaultyDatabases } from './faulty-database.ts';
import { journalFile, ROOMY } from './sqlite-journal.ts';

/** `[what, with what]`; of events that telemetry is told, their number. */
export type Said = readonly [string, unknown];

export interface ActorRig {
  readonly store: ActorRef<StoreMessages>;
  readonly watched: WatchedStore;
  readonly databases: FaultyDatabases;
  readonly mark: SharedMark;
  readonly clock: TestClock;
  readonly file: string;
  readonly said: Said[];
  readonly escalated: unknown[];
  /** What runs answer to an offer. */
  answer: (body: OfferBody) => OfferReply | Promise<OfferReply>;
  /** What has been said since the last call. */
  heard(): Promise<Said[]>;
  close(): Promise<void>;
}

class WatchedStore extends SqliteStore {
  rests = 0;

  override rest(): void {
    this.rests++;
    super.rest();
  }
}

class WatchedMark extends SharedMark {
  readonly #said: Said[];

  constructor(said: Said[]) {
    super();
    this.#said = said;
  }

  override advance(position: number): void {
    this.#said.push(['mark', position]);
    super.advance(position);
  }

  override setOpen(open: boolean): void {
    this.#said.push([open ? 'mark opened' : 'mark closed', null]);
    super.setOpen(open);
  }
}

/** `create`: instead of a journal on disk. Not opened; closed at the end of the test. */
export function actorRig(t: HasAfter, create?: () => Store, results: ResultFolder | null = null): ActorRig {
  const said: Said[] = [];
  const escalated: unknown[] = [];
  const clock = new TestClock();
  const system = new ActorSystem({
    thread: 'main',
    placement: {},
    clock,
    onEscalate: (_actor, error) => escalated.push(error),
  });
  const file = journalFile(t);
  const databases = new FaultyDatabases();
  const options = { file, durability: 'process', retention: ROOMY, nowMs: () => clock.wallMs() } as const;
  const watched = new WatchedStore({ ...options, openDatabase: databases.open });
  const mark = new WatchedMark(said);
  const listener = (name: string): ActorDefinition<Messages> => ({
    name,
    mailbox: MAILBOXES.runs,
    create: () => ({
      async receive({ kind, body }, answer) {
        const note = kind === 'runs' ? (body as { events: readonly unknown[] }).events.length : body;
        said.push([kind, note]);
        if (kind === 'offer') answer.ok(await rig.answer(body as OfferBody));
      },
    }),
  });
  for (const name of ['runs', 'telemetry']) system.spawn(listener(name));
  const store = system.spawn(storeActor({ openStore: create ?? (() => watched), mark, results }));
  const close = () => system.close();
  t.after(close);
  const rig: ActorRig = {
    store,
    watched,
    databases,
    mark,
    clock,
    file,
    said,
    escalated,
    answer: ({ items }) => ({ accepted: items.length, known: 0, rejected: 0, rest: [] }),
    async heard() {
      for (let turn = 0; turn < 5; turn++) await nextTurn();
      return said.splice(0);
    },
    close,
  };
  return rig;
}

/** Opened by a first daemon; what was said of it is passed over. */
export async function opened(rig: ActorRig): Promise<ActorRig> {
  await rig.store.ask('open', { boot: 'boot-1', kept: 0 });
  await rig.heard();
  return rig;
}

export function record(
  rig: ActorRig,
  first: number,
  events: readonly RunEvent[],
  dropped: readonly string[] = [],
): void {
  rig.store.tryTell('record', { first, events, dropped });
}

export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
