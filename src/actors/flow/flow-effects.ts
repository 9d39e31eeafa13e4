/**
 * Carries out what the runs of flows say: runs of their steps are started and cancelled, the end of a step is noted, and with the
 * last one the flow has its outcome. What it does comes back as events.
 */
import type { Outcome } from '../execution.ts';
import type { Clock } from '../kernel/clock.ts';
import { assertNever, toErrorData } from '../kernel/errors.ts';
import type { LogRecord } from '../protocol.ts';
import type { Runs } from '../runs/index.ts';
import type { FlowCounts } from './flow-counts.ts';
import type { FlowEffect, FlowEnd, FlowEvent, FlowPlace } from './flow-events.ts';
import { errorOfEnd, type FlowFailure, failureInput } from './flow-failure.ts';
import { noteText } from './flow-note.ts';
import { flowEndReason, flowEndText } from './flow-text.ts';
import { failureRunId, type LiveFlow } from './live-flow.ts';
import type { StepStarts } from './step-starts.ts';
import type { TakeUp } from './take-up.ts';

export interface FlowEffectsOptions {
  readonly clock: Clock;
  readonly runs: Pick<Runs, 'steps' | 'outcome' | 'deadLetters'>;
  readonly starts: StepStarts;
  readonly takeUp: TakeUp;
  readonly counts: FlowCounts;
  readonly log: (level: LogRecord['level'], msg: string, fields: LogRecord['fields']) => void;
  /** These runs of a flow are no dead letters any more: `by`, which is one of them again, has succeeded. */
  readonly onResolved?: ((letters: readonly string[], by: string) => void) | undefined;
  readonly tell: (live: LiveFlow, event: FlowEvent) => void;
  /** Its last step is over: it lives no more. */
  readonly onOver: (live: LiveFlow) => void;
}

type Failure = Extract<FlowEvent, { kind: 'failed' }>;

export class FlowEffects {
  readonly #options: FlowEffectsOptions;

  constructor(options: FlowEffectsOptions) {
    this.#options = options;
  }

  carryOut(live: LiveFlow, effects: readonly FlowEffect[], isTakenUp = false): void {
    const { starts, takeUp, counts } = this.#options;
    for (const effect of effects) {
      switch (effect.kind) {
        case 'start':
          if (live.early.delete(effect.step)) takeUp.add(live);
          else starts.want(live, effect);
          break;
        case 'list':
          if (live.early.delete(effect.step)) takeUp.add(live);
          else void starts.list(live, effect.step);
          break;
        case 'cancel':
          this.#cancel(live, effect);
          break;
        case 'step-ended':
          // What is still on its way for it has nobody to go to.
          live.starting.delete(live.listIdOf(effect.step));
          live.keepRead(effect.step, null);
          if (live.unmade.delete(effect.step) && effect.reason === 'item-failed') {
            const { reason, step } = effect;
            this.keepFailure(live, step, { reason, detail: live.run!.detailOf(step) });
          }
          if (live.early.delete(effect.step)) this.#cancelEarly(live, effect.step);
          if (!isTakenUp) counts.stepEnded(live.flow.name, effect.state, effect.reason);
          break;
        case 'over':
          this.#over(live, effect.end);
          break;
        default:
          assertNever(effect, 'effect of a flow');
      }
    }
  }

  #cancel(live: LiveFlow, { step, item }: FlowPlace): void {
    const { starts, tell } = this.#options;
    if (starts.drop(live, { step, item })) tell(live, { kind: 'cancelled', step, item });
    else this.#options.runs.steps.cancel(live.idOf({ step, item }));
  }

  /** The step is over, with its run or without. */
  #cancelEarly(live: LiveFlow, step: number): void {
    const items = live.note.lists?.[live.flow.graph.nameOf(step)] ?? null;
    if (items === null) this.#options.runs.steps.cancel(live.idOf({ step, item: null }));
    else for (let item = 0; item < items; item++) this.#options.runs.steps.cancel(live.idOf({ step, item }));
  }

  /** Its end is in the journal with how each step did. */
  #over(live: LiveFlow, end: FlowEnd): void {
    const { clock, runs, counts, onOver } = this.#options;
    const { flow, note, id } = live;
    const ended = { graph: flow.graph, run: live.run! };
    const why = flowEndReason(end, ended);
    note.end = flowEndText(end, ended);
    note.steps = live.notedSteps();
    onOver(live);
    counts.over(flow.name);
    if (end.state === 'failed')
      this.#startFailureTask(live, {
        failed_step: end.step === null ? null : flow.graph.nameOf(end.step),
        error: why,
      });
    if (end.state === 'success') this.#resolve(live);
    this.keep(live);
    live.bytes.release();
    const outcome: Outcome = {
      run: id,
      attempt: live.attempt,
      status: end.state,
      result: null,
      error: errorOfEnd(end, why, live.firstError.of(end.step)),
      durationMs: Math.max(0, clock.wallMs() - live.sinceMs),
      retryable: false,
    };
    runs.outcome(outcome);
  }

  /** What failed before has been done now. */
  #resolve({ id, note }: LiveFlow): void {
    if (note.again === undefined) return;
    const { runs, onResolved } = this.#options;
    const letters = runs.deadLetters.resolve([note.again, ...(note.before ?? [])]);
    if (letters.length > 0) onResolved?.(letters, id);
  }

  #startFailureTask(live: LiveFlow, failure: FlowFailure): void {
    const { onFailure } = live.flow;
    if (onFailure === null) return;
    try {
      const input = onFailure.input === null ? null : failureInput(live, onFailure.input, failure);
      this.#options.runs.steps.start({
        flow: live.id,
        id: failureRunId(live.id),
        task: onFailure.task,
        input,
        limits: null,
      });
    } catch (error) {
      const { message } = toErrorData(error, 'input-invalid');
      this.#options.log('error', 'on_failure cannot run', {
        flow: live.flow.name,
        run: live.id,
        error: message,
      });
    }
  }

  keepFailure(live: LiveFlow, step: number, why: Pick<Failure, 'reason' | 'detail'>): void {
    live.note.verdicts ??= {};
    live.note.verdicts[live.flow.graph.nameOf(step)] = { reason: why.reason, detail: why.detail ?? '' };
    this.keep(live);
  }

  /** What is noted of it goes into the journal, before anything that follows from it. */
  keep(live: LiveFlow): void {
    const text = noteText(live.note);
    live.bytes.note(text);
    this.#options.runs.steps.note(live.id, text);
  }
}
