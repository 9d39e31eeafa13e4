/** The config: its type, its schema, and how it is loaded from a file or made in code. */
export * from './config.ts';
export { findConfigFile, stateDirOf } from './config-file.ts';
export { type LoadOptions, loadConfig, parseConfigText, type TextOptions } from './load-config.ts';
export { findNotJson } from './not-json.ts';
export { ConfigInvalid, formatProblem, type Problem } from './problem.ts';
export type { RawConfig, RawFlow, RawStep, RawTask } from './raw-config.ts';
export { type LoadedConfig, resolveConfig } from './resolve-config.ts';
export type { ParsedCron, ResolveOptions, ScheduleWarning } from './resolve-scope.ts';
export { configSchema } from './schema.ts';
export { type GlobSpec, splitGlob } from './split-glob.ts';
export { type FoundModules, listModules, moduleName } from './user-modules.ts';
export { besideRight } from './with-remedy.ts';
