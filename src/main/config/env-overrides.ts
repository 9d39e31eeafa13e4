/**
 * Overrides by the environment: any scalar of the config is `COLIBRI_` + its path in capitals with `_`, tasks
 * and groups by name: `COLIBRI_QUEUES_READY_CAPACITY`, `COLIBRI_TASKS_HASH_INBOX_TIMEOUT_SECONDS`. A value is
 * read as a YAML scalar, or as it stands where the key takes text. An override wins over the file, and over
 * the other ways of the file to say the same.
 */
import { checkSchema, nearestName, type SchemaPath } from '../../actors/kernel/check-schema.ts';
import type { JsonSchema } from '../../actors/kernel/json-schema.ts';
import type { BuiltInHandler } from '../../workers/handler.ts';
import { type ProblemList, pathText } from './places.ts';
import { isObject, type RawObject, removeAt, setAt, valueAt } from './raw-tree.ts';
import { configSchema } from './schema.ts';
import { taskSchema } from './schema-task.ts';
import { SHORT_FORMS } from './short-forms.ts';

const PREFIX = 'COLIBRI_';

/** Set by the daemon for commands, or read by the command line: no keys of the config. */
const NOT_KEYS: ReadonlySet<string> = new Set([
  'COLIBRI_RUN',
  'COLIBRI_TASK',
  'COLIBRI_ATTEMPT',
  'COLIBRI_CONFIG',
]);

/** Ways to say the same thing: one that is overridden takes away what the file says in another way. */
const ALTERNATIVES: readonly (readonly (readonly string[])[])[] = [
  [['capacity'], ['backlog_per_second', 'tolerate_seconds']],
  [['slots'], ['wait_ms', 'compute_ms']],
  [['schedule'], ['every'], ['at']],
];

interface Target {
  readonly path: SchemaPath;
  readonly schema: JsonSchema;
}

type Targets = Map<string, Target[]>;

export interface OverrideInput {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly builtIns: readonly BuiltInHandler[];
  /** A YAML scalar, or undefined for text that is none. */
  readonly readScalar: (text: string) => unknown;
}

/** Puts the overrides into the tree. Gives for the text of each overridden path the variable it came from. */
export function applyOverrides(
  tree: RawObject,
  input: OverrideInput,
  problems: ProblemList,
): ReadonlyMap<string, string> {
  const origins = new Map<string, string>();
  let sections: Targets | undefined;
  for (const variable of Object.keys(input.env).sort()) {
    const text = input.env[variable];
    if (text === undefined || !variable.startsWith(PREFIX) || NOT_KEYS.has(variable)) continue;
    sections ??= sectionTargets(tree);
    const name = variable.slice(PREFIX.length);
    const targets = [...(sections.get(name) ?? []), ...taskTargets(tree, name, input.builtIns)];
    const say = (message: string) => problems.addAt({ file: variable, line: 1, column: 1, message });
    const [target, other] = targets;
    if (target === undefined) {
      problems.warnAt({
        file: variable,
        line: 1,
        column: 1,
        message: unknownVariable(tree, name, sections, input),
      });
    } else if (other !== undefined) {
      const both = `${nameOf(tree, target.path)} and ${nameOf(tree, other.path)}`;
      say(`expected a variable that names one key, got one that names both ${both}; rename one of the two`);
    } else if (origins.has(pathText(target.path))) {
      say(`expected either ${origins.get(pathText(target.path))} or ${variable}, got both; unset one`);
    } else if (override(tree, target, parseValue(target, text, input), origins)) {
      origins.set(pathText(target.path), variable);
    } else {
      say(`expected ${pathText(target.path.slice(0, -1))} to be an object in the file, got something else`);
    }
  }
  return origins;
}

function override(
  tree: RawObject,
  target: Target,
  value: unknown,
  origins: ReadonlyMap<string, string>,
): boolean {
  const holder = target.path.slice(0, -1);
  const key = String(target.path.at(-1));
  const group = ALTERNATIVES.find((ways) => ways.some((way) => way.includes(key)));
  for (const way of group ?? []) {
    if (way.includes(key)) continue;
    for (const sibling of way) {
      const path = [...holder, sibling];
      const measured = valueAt(tree, path) === 'measured' || value === 'measured';
      if (!measured && !origins.has(pathText(path))) removeAt(tree, path);
    }
  }
  return setAt(tree, target.path, value);
}

/** Text that is no YAML scalar (a cron expression begins like an alias) stands for itself where text fits. */
function parseValue(target: Target, text: string, input: OverrideInput): unknown {
  const parsed = input.readScalar(text);
  const fits = parsed !== undefined && checkSchema(target.schema, parsed).length === 0;
  if (fits || (parsed !== undefined && checkSchema(target.schema, text).length > 0)) return parsed;
  return text;
}

function sectionTargets(tree: RawObject): Targets {
  const targets: Targets = new Map();
  for (const [key, schema] of Object.entries(configSchema.properties ?? {})) {
    const long = SHORT_FORMS[key];
    if (long === undefined) collect(targets, schema, [key], envName(key));
    else if (!targets.has(envName(key))) put(targets, envName(key), { path: long, schema });
  }
  const groupSchema = configSchema.properties?.groups?.additionalProperties;
  if (isObject(tree.groups) && typeof groupSchema === 'object') {
    for (const group of Object.keys(tree.groups)) {
      collect(targets, groupSchema, ['groups', group], `GROUPS_${envName(group)}`);
    }
  }
  return targets;
}

/** The keys that `name` may mean in the tasks whose own name it carries. */
function taskTargets(tree: RawObject, name: string, builtIns: readonly BuiltInHandler[]): Target[] {
  if (!name.startsWith('TASKS_') || !Array.isArray(tree.tasks)) return [];
  const found: Target[] = [];
  for (const [index, task] of tree.tasks.entries()) {
    const start = taskPrefix(task);
    if (start !== undefined && name.startsWith(start)) {
      found.push(...(keysOfTask(task, index, builtIns).get(name.slice(start.length)) ?? []));
    }
  }
  return found;
}

function taskPrefix(task: unknown): string | undefined {
  if (!isObject(task) || typeof task.name !== 'string') return undefined;
  return `TASKS_${envName(task.name)}_`;
}

function keysOfTask(task: RawObject, index: number, builtIns: readonly BuiltInHandler[]): Targets {
  const targets: Targets = new Map();
  for (const [key, schema] of Object.entries(taskSchema.properties ?? {})) {
    if (key !== 'name' && key !== 'with') collect(targets, schema, ['tasks', index, key], envName(key));
  }
  const known = builtIns.find((builtIn) => builtIn.name === task.handler)?.inputSchema.properties ?? {};
  for (const [key, schema] of Object.entries(known))
    collect(targets, schema, ['tasks', index, 'with', key], `WITH_${envName(key)}`);
  for (const key of isObject(task.with) ? Object.keys(task.with) : []) {
    const value = valueAt(task, ['with', key]);
    if (Object.hasOwn(known, key) || (typeof value === 'object' && value !== null)) continue;
    put(targets, `WITH_${envName(key)}`, { path: ['tasks', index, 'with', key], schema: {} });
  }
  return targets;
}

function collect(targets: Targets, schema: JsonSchema, path: SchemaPath, name: string): void {
  if (schema.properties !== undefined) {
    for (const [key, inner] of Object.entries(schema.properties)) {
      collect(targets, inner, [...path, key], `${name}_${envName(key)}`);
    }
  } else if (schema.type !== 'array' && schema.type !== 'object') {
    put(targets, name, { path, schema });
  }
}

function put(targets: Targets, name: string, target: Target): void {
  const there = targets.get(name);
  if (there === undefined) targets.set(name, [target]);
  else there.push(target);
}

function unknownVariable(tree: RawObject, name: string, sections: Targets, input: OverrideInput): string {
  const candidates = [...sections.keys()];
  for (const [index, task] of (Array.isArray(tree.tasks) ? tree.tasks : []).slice(0, 200).entries()) {
    const start = taskPrefix(task);
    if (start === undefined || !isObject(task) || !name.startsWith('TASK')) continue;
    for (const key of keysOfTask(task, index, input.builtIns).keys()) candidates.push(start + key);
  }
  // What is set already cannot be what this one is meant for.
  const nearest = nearestName(
    name,
    candidates.filter((candidate) => input.env[PREFIX + candidate] === undefined),
  );
  const hint = nearest === undefined ? '; unset it' : `; did you mean ${PREFIX}${nearest}?`;
  return `expected the name of a key of the config, got one that no key has; it is ignored${hint}`;
}

function nameOf(tree: RawObject, path: SchemaPath): string {
  const name = path[0] === 'tasks' ? valueAt(tree, [...path.slice(0, 2), 'name']) : undefined;
  return typeof name === 'string' ? `${pathText(path.slice(2))} of task ${name}` : pathText(path);
}

function envName(key: string): string {
  return key.replaceAll(/[^A-Za-z0-9]/g, '_').toUpperCase();
}
