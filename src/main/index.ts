/** The library's public face. */
export {
  type Clock,
  ColibriError,
  type ErrorCode,
  type ErrorData,
  TestClock,
} from '../actors/kernel/index.ts';
export type { FlowStepView, RunView } from '../actors/views/run-view.ts';
export type { RuntimeView } from '../actors/views/runtime-view.ts';
export type { Handler, HandlerContext, HandlerLog } from '../workers/handler.ts';
export {
  type Config,
  ConfigInvalid,
  loadConfig,
  type Problem,
  resolveConfig,
  type TaskSpec,
} from './config/index.ts';
export { Daemon, type DaemonOptions } from './daemon.ts';
export * from './library/index.ts';
export { parseCron } from './schedule/parse/index.ts';
