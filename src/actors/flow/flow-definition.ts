/** A flow as the config has it: plain data, all defaults filled in. */
import type { StepLimits } from '../runs/index.ts';
import type { RawExpectation } from './expectations.ts';
import type { EachItem, StepSpec } from './flow-graph.ts';

export interface StepDefinition extends StepSpec {
  /** `list`: a template that stands for the list. */
  readonly each: (EachItem & { readonly list: string }) | null;
  /** Laid over the `with` of the task; may have templates. Null: nothing. */
  readonly with: unknown;
  readonly expect: RawExpectation | null;
  /** In place of those of the task; null: the task's. */
  readonly limits: StepLimits | null;
}

/** What runs when the flow has failed. */
export interface FlowFailureTask {
  readonly task: string;
  /** As that of a step, without results. */
  readonly with: unknown;
}

export interface FlowDefinition {
  readonly name: string;
  readonly steps: readonly StepDefinition[];
  /** From its start on; null: none. */
  readonly timeoutMs: number | null;
  readonly onFailure: FlowFailureTask | null;
}
