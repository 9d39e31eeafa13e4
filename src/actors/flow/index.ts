/** The face of the flows: graphs, flow runs, templates, guards, how they are shown, and the owner of the flow runs. */

export {
  type Expectation,
  measureOf,
  unmetExpectation,
} from '../results/expectation.ts';
export { type CheckedFlow, checkFlow } from './check-flow.ts';
export { compileFlow, type FlowCompilation } from './compile-flow.ts';
export {
  EXPECTATION_SCHEMA,
  parseExpectation,
  type RawExpectation,
} from './expectations.ts';
export { MAX_FLOW_ITEMS } from './fan-out.ts';
export { liveFlowsLimit } from './flow-bytes.ts';
export type { FlowDefinition, FlowFailureTask, StepDefinition } from './flow-definition.ts';
export { flowDot, flowMermaid } from './flow-drawing.ts';
export { endOfFlow } from './flow-end.ts';
export {
  type FailureReason,
  type FlowEffect,
  type FlowEnd,
  FlowEndReason,
  type FlowEvent,
  NOTHING_SEEN,
  type SeenRun,
  type SeenRuns,
  StepReason,
  type StopReason,
} from './flow-events.ts';
export {
  type EachItem,
  FlowGraph,
  ItemFailurePolicy,
  MAX_FLOW_DEPTH,
  MAX_FLOW_STEPS,
  type StepSpec,
  UpstreamFailurePolicy,
} from './flow-graph.ts';
export type { FlowProblem } from './flow-problem.ts';
export { FlowRun, type FlowRunOptions } from './flow-run.ts';
export type { FlowStore } from './flow-store.ts';
export {
  type FlowShown,
  flowEndReason,
  flowEndText,
  flowLines,
  type StepShown,
  stepReasonText,
  stepsByStage,
} from './flow-text.ts';
export { Flows, type FlowsOptions } from './flows.ts';
export { type EarlierStep, stepsTakenOver } from './rerun.ts';
export type { ReadText, SharedReads } from './shared-reads.ts';
export { isStepOver, STEP_STATES, STEP_TRANSITIONS, type StepEnd, StepState } from './step-states.ts';
export {
  FAILURE_FIELDS,
  FLOW_FIELDS,
  type FlowField,
  isMeantAsTemplate,
  parseSource,
  parseTemplateText,
  type TemplateScope,
  type TextPart,
  type ValueSource,
} from './template-text.ts';
export {
  fillTemplate,
  fillText,
  isConstant,
  listOf,
  MAX_FILLED_LENGTH,
  MAX_TEMPLATE_DEPTH,
  parseTemplate,
  type Template,
  type TemplateValues,
} from './templates.ts';
