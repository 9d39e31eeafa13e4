/** The library: the runtime as a part of a program. */
export { App } from './app.ts';
export type { AppOptions } from './app-options.ts';
export { type AppRun, type EndedRun, RunFailed, type SucceededRun } from './app-run.ts';
export type { AsJson } from './as-json.ts';
export type { DefineTask } from './define-task.ts';
export type {
  DependsOn,
  EachItemOf,
  FlowOptions,
  FlowStep,
  RerunFlow,
  RerunOptions,
  ResultIfAny,
  ResultOf,
  StepContext,
  UpstreamFailure,
} from './flow-options.ts';
export type { AppEvents } from './listeners.ts';
export { readResult } from './read-result.ts';
export type { RunsFilter } from './run-questions.ts';
export type { StepFlow } from './step-input.ts';
export type { ItemTask, TaskHandle } from './task-handle.ts';
export type {
  FunctionTask,
  HandlerTask,
  ItemFunctionTask,
  ItemHandlerTask,
  ItemModuleTask,
  ModuleTask,
  TaskFunction,
  TaskSettings,
} from './task-options.ts';
export type { TriggerOptions } from './trigger-options.ts';
