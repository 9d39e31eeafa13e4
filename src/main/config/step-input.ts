/** `with` of a step: paths in it, and whether what is constant in it fits the handler of its task. */
import { resolve } from 'node:path';
import type { StepDefinition } from '../../actors/flow/index.ts';
import { checkSchema, type SchemaPath } from '../../actors/kernel/check-schema.ts';
import type { TaskSpec } from './config.ts';
import { findNotJson } from './not-json.ts';
import { isObject } from './raw-tree.ts';
import type { ResolveScope } from './resolve-scope.ts';
import { withRemedy } from './with-remedy.ts';

/** Null: nothing is laid over. */
export function resolveStepInput(
  given: Readonly<Record<string, unknown>> | undefined,
  task: TaskSpec | undefined,
  scope: ResolveScope,
): Readonly<Record<string, unknown>> | null {
  if (given === undefined) return null;
  const keys = task === undefined ? [] : (scope.builtIn(task.handler)?.pathKeys ?? []);
  const { directory } = scope.options;
  const absolute = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(absolute);
    if (typeof value !== 'string' || value.startsWith('{{')) return value;
    return resolve(directory, value);
  };
  const paths = keys.filter((key) => Object.hasOwn(given, key)).map((key) => [key, absolute(given[key])]);
  return { ...given, ...Object.fromEntries(paths) };
}

interface InputPlace {
  readonly path: SchemaPath;
  /** Of what only a run knows; undefined: nothing was looked at. */
  readonly open: readonly SchemaPath[] | undefined;
}

export function checkStepInput(
  { with: given }: StepDefinition,
  task: TaskSpec | undefined,
  { path, open }: InputPlace,
  scope: ResolveScope,
): void {
  if (task === undefined || open === undefined || !isObject(given)) return;
  const bad = findNotJson(given);
  if (bad !== null) {
    const message = `expected a value that JSON can hold, got ${bad.got}`;
    scope.problems.add([...path, ...bad.path], message);
    return;
  }
  const builtIn = scope.builtIn(task.handler);
  if (builtIn === undefined) return;
  const { inputSchema } = builtIn;
  // A key that is misspelt here stands beside what is written here, and not beside what the task says.
  const misspelt = checkSchema(inputSchema, given).filter(({ onKey }) => onKey === true);
  const whole = checkSchema(inputSchema, { ...task.with, ...given }).filter(({ onKey }) => onKey !== true);
  for (const problem of [...misspelt, ...whole]) {
    if (open.some((one) => isWithin(one, problem.path))) continue;
    // What the task says was looked at there.
    const [key] = problem.path;
    if (problem.missing !== true && typeof key === 'string' && !Object.hasOwn(given, key)) continue;
    const message = withRemedy(problem, inputSchema);
    scope.problems.add([...path, ...problem.path], message, problem.onKey ? 'key' : 'value');
  }
}

/** One of them is the beginning of the other. */
function isWithin(a: SchemaPath, b: SchemaPath): boolean {
  return a.every((step, at) => at >= b.length || step === b[at]);
}
