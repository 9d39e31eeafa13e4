/**
 * The store as an actor. Data goes one way: runs → store → telemetry; what is acknowledged to the runs is kept.
 *
 * A scan's offer passes through here, so that the question "is this file done?" and its passing on to the runs
 * happen in one turn: the acknowledgement of a run's end cannot overtake it on the way to main, and a file
 * that ends in between is still live there and recognised.
 */
import { assertNever } from '../kernel/errors.ts';
import type { ActorDefinition, Answer, EnvelopeOf } from '../kernel/index.ts';
import {
  ActorName,
  MAILBOXES,
  type RunsMessages,
  type StoreMessages,
  type TelemetryMessages,
} from '../protocol.ts';
import type { Store } from './store.ts';

export function storeActor(openStore: () => Store): ActorDefinition<StoreMessages> {
  return {
    name: ActorName.Store,
    mailbox: MAILBOXES.store,
    checks: { record: isRecord },
    create(context) {
      const store = openStore();
      const runs = context.ref<RunsMessages>(ActorName.Runs);
      const telemetry = context.ref<TelemetryMessages>(ActorName.Telemetry);

      async function offer(body: StoreMessages['offer']['body'], answer: Answer): Promise<void> {
        const marked = await store.marked(
          body.task,
          body.items.map((item) => item.mark),
        );
        const items = body.items.filter((item) => !marked.has(item.mark));
        if (items.length === 0) {
          answer.ok({ accepted: 0, known: body.items.length, rejected: 0, rest: [] });
          return;
        }
        // Not awaited: a full ready queue may hold the answer back for long, and records must go on.
        runs.ask('offer', { ...body, items }, { timeoutMs: null }).then(
          (reply) => answer.ok({ ...reply, known: reply.known + marked.size }),
          (error: unknown) => answer.fail(error),
        );
      }

      return {
        async receive(envelope: EnvelopeOf<StoreMessages>, answer: Answer): Promise<void> {
          switch (envelope.kind) {
            case 'record': {
              const { seq, events } = envelope.body;
              await store.append(events);
              await runs.tell('recorded', { seq });
              await telemetry.tell('runs', { events });
              return;
            }
            case 'list':
              return answer.ok(await store.list(envelope.body));
            case 'show':
              return answer.ok(await store.show(envelope.body.run));
            case 'usage':
              return answer.ok(await store.usage());
            case 'offer':
              return offer(envelope.body, answer);
            default:
              return assertNever(envelope, 'message to the store');
          }
        },
        stop: () => store.close(),
      };
    },
  };
}

function isRecord(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false;
  const { seq, events } = body as { seq?: unknown; events?: unknown };
  return typeof seq === 'number' && Array.isArray(events) && events.every(isEvent);
}

function isEvent(event: unknown): boolean {
  if (typeof event !== 'object' || event === null) return false;
  const { run, task, state, atMs } = event as Record<string, unknown>;
  return (
    typeof run === 'string' &&
    typeof task === 'string' &&
    typeof state === 'string' &&
    typeof atMs === 'number'
  );
}
