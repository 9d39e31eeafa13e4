/** The library's public face. */
export { ColibriError, type ErrorCode, type ErrorData, TestClock } from '../actors/kernel/index.ts';
export type { RuntimeView, RunView } from '../actors/protocol.ts';
export type { Handler, HandlerContext, HandlerLog } from '../workers/index.ts';
export { type Config, loadConfig, resolveConfig, type TaskSpec } from './config/index.ts';
export { Daemon, type DaemonOptions } from './daemon.ts';
export { parseCron } from './schedule/parse/index.ts';
