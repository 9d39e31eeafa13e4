/** Options of a program through the loader of the config file, and back: what is wrong is told in a program's spelling. */
import { availableParallelism } from 'node:os';
import { describeValue } from '../../actors/kernel/index.ts';
import { builtInHandlers } from '../../workers/index.ts';
import {
  besideRight,
  ConfigInvalid,
  configSchema,
  type LoadedConfig,
  type Problem,
  resolveConfig,
} from '../config/index.ts';
import { parseCron } from '../schedule/parse/index.ts';
import { scheduleWarnings } from '../schedule/warnings/index.ts';
import { inCamelCase, inFileForm, keysOf, toCamelCase } from './camel-case.ts';

export interface WrittenOptions {
  /** Keys of the file in camelCase. */
  readonly tree: unknown;
  /** Of the one task in it; null: there is none. */
  readonly task: string | null;
  /** Found before; told with the others. */
  readonly problems: readonly string[];
  readonly directory: string;
  readonly nowMs: number;
  /** Handlers that are functions of the program. */
  readonly functions?: ReadonlySet<string>;
  /** Modules by the name of the handler. */
  readonly modules?: ReadonlyMap<string, string>;
  /** Texts of the paths of keys in the tree that the program did not write. */
  readonly added?: readonly string[];
}

const KEYS = keysOf(configSchema);
/** A path of the file's form that begins at the only task. */
const TASK_PATH = /^tasks\[0\](?: \([^)]*\))?(?:\.|: )/;

/** Throws `ConfigInvalid`. */
export function resolveOptions(options: WrittenOptions): LoadedConfig {
  const { task, directory, nowMs, functions = new Set(), modules = new Map(), added = [] } = options;
  const { tree, snakeKeys, written } = inFileForm(configSchema, options.tree);
  const isKey = { has: (key: string) => KEYS.has(key) || written.has(key) };
  const place = task === null ? '' : `task ${task}: `;
  const spelled = (problem: Problem): Problem => ({
    ...problem,
    message: inCamelCase(problem.message.replace(TASK_PATH, place), isKey),
  });
  const own = [
    ...options.problems,
    ...snakeKeys.map(({ key, isBesideRight }) => {
      const right = describeValue(toCamelCase(key));
      const remedy = isBesideRight ? besideRight(right) : `did you mean ${right}?`;
      return `unknown key ${describeValue(key)}; ${remedy}`;
    }),
  ].map((message) => ({ file: 'options', line: 0, column: 0, message: place + message }));
  let loaded: LoadedConfig;
  try {
    loaded = resolveConfig(tree, {
      directory,
      cores: availableParallelism(),
      builtIns: builtInHandlers,
      parseCron,
      nowMs,
      warnOfSchedules: (tasks) => scheduleWarnings(tasks, { nowMs, lookAhead: false }),
      functions,
      modules,
      added: new Set(added),
    });
  } catch (error) {
    if (!(error instanceof ConfigInvalid)) throw error;
    throw new ConfigInvalid([...own, ...error.problems.map(spelled)], error.warnings.map(spelled));
  }
  if (own.length > 0) throw new ConfigInvalid(own);
  return { config: loaded.config, warnings: loaded.warnings.map(spelled) };
}
