/** Options of a program through the loader of the config file, and back: what is wrong is told in a program's spelling. */
import { availableParallelism } from 'node:os';
import { compileFlow } from '../../actors/flow/index.ts';
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

/** What it is about: the first task, or the only flow. The other tasks are there for it, and have been looked at. */
type Subject =
  | { readonly kind: 'task'; readonly name: string }
  | { readonly kind: 'flow'; readonly name: string; readonly steps: readonly string[] };

export interface WrittenOptions {
  /** Keys of the file in camelCase. */
  readonly tree: unknown;
  readonly subject: Subject | null;
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
/** A path of the file's form that begins at the first task, or in the only flow. */
const TASK_PATH = /^tasks\[0\](?: \([^)]*\))?(?:\.|: )/;
const FLOW_PATH = /^flows\[0\](?: \([^)]*\))?(?:\.steps\[(\d+)\])?(?:\.|: )/;

/** Throws `ConfigInvalid`. */
export function resolveOptions(options: WrittenOptions): LoadedConfig {
  const { subject, directory, nowMs, functions = new Set(), modules = new Map(), added = [] } = options;
  const { tree, snakeKeys, written } = inFileForm(configSchema, options.tree);
  const isKey = { has: (key: string) => KEYS.has(key) || written.has(key) };
  const place = subject === null ? '' : `${subject.kind} ${subject.name}: `;
  const spelled = (problem: Problem): Problem => ({
    ...problem,
    message: inCamelCase(placed(problem.message, subject, place), isKey),
  });
  const isOfSubject = ({ message }: Problem) => subject?.kind !== 'flow' || FLOW_PATH.test(message);
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
      compileFlow,
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
  return { ...loaded, warnings: loaded.warnings.filter(isOfSubject).map(spelled) };
}

function placed(message: string, subject: Subject | null, place: string): string {
  if (subject?.kind !== 'flow') return message.replace(TASK_PATH, place).replace(FLOW_PATH, place);
  return message.replace(FLOW_PATH, (_, step: string | undefined) =>
    step === undefined ? place : `${place}step ${subject.steps[Number(step)]}: `,
  );
}
