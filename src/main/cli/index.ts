/** The face of the command line. */
export { ExitCode } from './exit-codes.ts';
export type { CliDeps, CliIo, ConfigProblem, LoadedConfig, TextSink } from './io.ts';
export { main } from './main.ts';
