/**
 * What a user writes of flows. What types follow from stands at the task: what it waits for, the list that it has a run for
 * each item of, whether it runs after a failure. The rest of a step stands in the list of its flow.
 */
import type { RawExpectation } from '../../actors/flow/index.ts';
import type { JsonSchema } from '../../actors/kernel/json-schema.ts';
import type { AgainBehind, ForgottenResults } from '../../actors/views/run-view.ts';
import type { HandlerContext } from '../../workers/handler.ts';
import type { RawFlow, RawStep } from '../config/index.ts';
import type { EndedRun } from './app-run.ts';
import type { AsJson } from './as-json.ts';
import type { InCamelCase } from './camel-case.ts';
import type { StepFlow } from './step-input.ts';
import type { AnyTask, ItemTask, TaskHandle } from './task-handle.ts';

/** What a task does in a flow where one before it did not succeed. */
export type UpstreamFailure = RawStep['on_upstream_failure'];

/** What comes of a task, as a step behind it reads it. */
export type ResultOf<Task> =
  Task extends TaskHandle<never, infer Output>
    ? AsJson<Output>
    : Task extends ItemTask<never, infer Output>
      ? AsJson<Output>[]
      : never;

/** The same to one that runs whether those before it succeeded or not: of a list, each item that did not is null. */
export type ResultIfAny<Task> =
  Task extends ItemTask<never, infer Output>
    ? Task extends TaskHandle<never, unknown>
      ? ResultOf<Task> | null
      : (AsJson<Output> | null)[] | null
    : ResultOf<Task> | null;

/** Tasks whose runs are over, in one flow, when this one begins. */
export interface DependsOn<
  Tasks extends readonly AnyTask[],
  Policy extends UpstreamFailure = UpstreamFailure,
> {
  readonly dependsOn?: Tasks | undefined;
  /** Default: `skip`. */
  readonly onUpstreamFailure?: Policy | undefined;
}

/** A run for each item of the list that a task before it gave. */
export interface EachItemOf<Item> {
  readonly each: EachSettings & {
    readonly list: TaskHandle<never, readonly Item[]> | ItemTask<never, Item>;
    readonly files?: undefined;
  };
}

type EachSettings = InCamelCase<Omit<NonNullable<RawStep['each']>, 'list'>>;

export interface StepContext<Tasks extends readonly AnyTask[], Policy extends UpstreamFailure = 'skip'>
  extends HandlerContext {
  /** Null: the run is no step of a flow. */
  readonly flow: StepFlow | null;
  /**
   * Of a task that `dependsOn` names; of one with a run for each item the list of their results, in the order of the items.
   * Null where it did not succeed, and in the place of an item that did not, which a step with `onUpstreamFailure: 'run'` alone
   * can see. Throws `usage` in a run that is no step of a flow.
   */
  resultOf<Task extends Tasks[number]>(task: Task): Policy extends 'run' ? ResultIfAny<Task> : ResultOf<Task>;
}

type StepLimits = InCamelCase<Pick<RawStep, 'timeout_seconds' | 'max_retry' | 'backoff' | 'priority'>>;

interface StepSettings extends StepLimits {
  /** What its result has to be like for the steps behind it to go on. */
  readonly expect?:
    | (InCamelCase<Omit<RawExpectation, 'schema'>> & { readonly schema?: JsonSchema | undefined })
    | undefined;
}

/** `with` in place of the payload, or of the item: it may have templates as in a file. */
type GivenTo<Handle> =
  | { readonly task: Handle; readonly with?: undefined }
  | { readonly task: AnyTask; readonly with: Readonly<Record<string, unknown>> };

/** A task as it stands in the list of a flow, by itself or with what it has in this flow alone. */
export type FlowStep<Payload> =
  | TaskHandle<Payload, unknown>
  | ItemTask<never, unknown>
  | (StepSettings & GivenTo<TaskHandle<Payload, unknown> | ItemTask<never, unknown>>);

export interface FlowOptions<Payload = never>
  extends InCamelCase<Omit<RawFlow, 'name' | 'steps' | 'on_failure'>> {
  /** A run of the flow is over, however it ended. */
  readonly onFinished?: ((run: EndedRun) => void) | undefined;
  /** It has failed. */
  readonly onFailed?: ((run: EndedRun) => void) | undefined;
  /** A task that runs once when the flow has failed: unlike a callback, also where the process has ended meanwhile. */
  readonly onFailure?: GivenTo<TaskHandle<Payload, unknown>> | undefined;
}

/** Which steps run again; without any of both all of them do. */
export interface RerunOptions {
  /** From this one on. */
  readonly from?: AnyTask | undefined;
  /** What did not succeed. */
  readonly failed?: boolean | undefined;
}

/** A flow that runs again. */
export interface RerunFlow {
  /** Of the new run. */
  readonly id: string;
  /** What had succeeded and runs again all the same, as its results are wanted and not kept any more. */
  readonly forgotten: readonly ForgottenResults[];
  /** What had succeeded and runs again all the same, as a step before it, near or far, is one of these. */
  readonly againBehind: readonly AgainBehind[];
}
