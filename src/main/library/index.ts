/** The library: the runtime as a part of a program. */
export { App, type AppEvents, type RunsFilter } from './app.ts';
export type { AppOptions } from './app-options.ts';
export { type AppRun, type AsJson, type EndedRun, RunFailed, type SucceededRun } from './app-run.ts';
export type { DependsOn, FlowOptions, ResultOf, StepContext } from './flow-options.ts';
export type { TaskHandle } from './task-handle.ts';
export type {
  FunctionTask,
  HandlerTask,
  ModuleTask,
  TaskFunction,
  TaskSettings,
} from './task-options.ts';
export type { TriggerOptions } from './trigger-options.ts';
