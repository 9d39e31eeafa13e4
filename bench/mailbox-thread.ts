/**
 * The far side of the mailbox benchmark: an actor on a thread host, and beside it, on a thread of its own, a bare
 * port that takes the same envelopes as structured clones.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { type ActorDefinition, runThreadHost } from '../src/actors/kernel/index.ts';

export type FarMessages = {
  item: { body: { run: string; at: number } };
  /** Answered when everything told before is handled. */
  count: { body: null; reply: number };
  echo: { body: { run: string; at: number }; reply: { run: string; at: number } };
};

export const FAR_ACTOR = 'far';

export const farActor: ActorDefinition<FarMessages> = {
  name: FAR_ACTOR,
  mailbox: { capacity: 10_000, capacityBytes: 16 * 1024 * 1024, whenFull: 'block' },
  create() {
    let count = 0;
    return {
      receive(envelope, answer) {
        switch (envelope.kind) {
          case 'item':
            count++;
            return;
          case 'count':
            answer.ok(count);
            return;
          case 'echo':
            answer.ok(envelope.body);
        }
      },
    };
  },
};

/** Answers each question of the bare port, counts the rest. */
function runBarePort(): void {
  const port = parentPort!;
  let count = 0;
  port.on('message', (envelope: { id: number; question: boolean; body: unknown }) => {
    if (envelope.question) port.postMessage({ correlation: envelope.id, count, body: envelope.body });
    else count++;
  });
}

if ((workerData as { bare?: boolean } | null)?.bare === true) runBarePort();
else if (parentPort !== null) runThreadHost({ definitions: [farActor] });
