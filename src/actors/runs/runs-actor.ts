/** The runs as an actor: messages in, calls on `Runs` out. The state outlives a restart of the behaviour. */

import type { Outcome } from '../execution.ts';
import { assertNever, ColibriError } from '../kernel/errors.ts';
import type { ActorDefinition, Answer, EnvelopeOf } from '../kernel/index.ts';
import { MAILBOXES } from '../mailboxes.ts';
import { ActorName, type ReloadReply, type RunsMessages } from '../protocol.ts';
import type { RuntimeView } from '../views/runtime-view.ts';
import type { SizeView } from '../views/size-view.ts';
import { isOffer, isOutcomes, isTrigger } from './message-checks.ts';
import type { RunState } from './run-states.ts';
import type { Runs } from './runs.ts';
import type { FlowQuestions } from './step-runs.ts';

export interface RunsActorOptions {
  readonly runs: Runs;
  /** Outcomes that came from another thread: go through the pool that holds the runs. */
  readonly settle: (pool: string, outcomes: readonly Outcome[]) => void;
  /** What main knows beside the runs. */
  readonly view: () => RuntimeView;
  readonly size: () => Promise<SizeView>;
  /** Rejects with what kept the config from being looked at. */
  readonly reload: () => Promise<ReloadReply>;
  /** Null: the config has no flows. */
  readonly flows: FlowQuestions | null;
}

export function runsActor(options: RunsActorOptions): ActorDefinition<RunsMessages> {
  const { runs, settle, view, size, reload, flows } = options;
  return {
    name: ActorName.Runs,
    mailbox: MAILBOXES.runs,
    checks: { outcomes: isOutcomes, trigger: isTrigger, offer: isOffer },
    create: () => ({
      receive(envelope: EnvelopeOf<RunsMessages>, answer: Answer): void {
        try {
          return handle(envelope, answer);
        } catch (error) {
          // A wrong question is the asker's; only a fault of our own is the actor's.
          if (!(error instanceof ColibriError) || error.code === 'internal') throw error;
          answer.fail(error);
        }
      },
    }),
  };

  async function cancel(run: string): Promise<{ state: RunState }> {
    await runs.recall(run);
    return { state: runs.cancel(run) };
  }

  function handle(envelope: EnvelopeOf<RunsMessages>, answer: Answer): void {
    switch (envelope.kind) {
      case 'trigger':
        return runs.trigger(envelope.body, answer);
      case 'wait':
        runs.wait(envelope.body.run, answer).catch((error: unknown) => answer.fail(error));
        return;
      case 'offer':
        return runs.offer(envelope.body, answer);
      case 'outcomes':
        return settle(envelope.from, envelope.body.outcomes);
      case 'progress':
        return runs.progress(envelope.body);
      case 'recorded':
        return runs.journal.recorded(envelope.body.seq);
      case 'store-state':
        return envelope.body.writable ? runs.journal.resend() : runs.journal.pause(envelope.body.reason);
      case 'cancel':
        return reply(cancel(envelope.body.run), answer);
      case 'flow-show':
        return reply(flowsOr(flows).show(envelope.body.run), answer);
      case 'flow-rerun':
        return void flowsOr(flows).rerun(envelope.body, answer);
      case 'live':
        return answer.ok(runs.table.list(envelope.body));
      case 'show-live':
        return answer.ok(runs.table.get(envelope.body.run)?.view() ?? null);
      case 'dead-list':
        return answer.ok(runs.deadLetters.list(envelope.body));
      case 'dead-replay':
        return answer.ok(runs.replay(envelope.body));
      case 'dead-purge':
        return answer.ok({ purged: runs.deadLetters.purge(envelope.body) });
      case 'view':
        return answer.ok(view());
      // Not awaited: the runs go on meanwhile.
      case 'size':
        return reply(size(), answer);
      case 'reload':
        return reply(reload(), answer);
      default:
        return assertNever(envelope, 'message to runs');
    }
  }
}

/** Throws `no-such-run`. */
function flowsOr(flows: FlowQuestions | null): FlowQuestions {
  if (flows !== null) return flows;
  throw new ColibriError('no-such-run', 'expected flows in the config, got none');
}

function reply(work: Promise<unknown>, answer: Answer): void {
  work.then(
    (value) => answer.ok(value),
    (error: unknown) => answer.fail(error),
  );
}
