/**
 * Loading a config file: bounded read, YAML, short forms, overrides of the environment, then everything that
 * `resolveTree` checks. Every problem at once, each with `file:line:column`.
 */

import { dirname, resolve } from 'node:path';
import { describeValue, type SchemaPath } from '../../actors/kernel/check-schema.ts';
import { checkTextSize, readConfigFile, unreadable } from './config-file.ts';
import { applyOverrides } from './env-overrides.ts';
import { type Place, type Places, ProblemList, pathText, type Spot } from './places.ts';
import { ConfigInvalid } from './problem.ts';
import { copyTree, isObject } from './raw-tree.ts';
import { type LoadedConfig, resolveTree } from './resolve-config.ts';
import type { ResolveOptions } from './resolve-scope.ts';
import { checkShortForms, expandShortForms } from './short-forms.ts';
import { loadYaml, readScalar, readYaml } from './yaml-text.ts';

export interface TextOptions extends Omit<ResolveOptions, 'directory' | 'file'> {
  /** The file as the user named it: the place of problems. Relative paths of the config start in its folder. */
  readonly file: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface LoadOptions extends TextOptions {
  /** Gives the text of the file; the default reads it from disk, at most 1 MiB. */
  readonly readFile?: (file: string) => string;
}

/** Throws `ConfigInvalid`. */
export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  return await parseConfigText(readText(options), options);
}

/** The same for a text that is there already. Throws `ConfigInvalid`. */
export async function parseConfigText(text: string, options: TextOptions): Promise<LoadedConfig> {
  const tooLong = checkTextSize(text);
  if (tooLong !== null) throw invalid(options.file, tooLong);
  const yaml = await loadYaml();
  const source = await readYaml(yaml, text, options.file);
  // A daemon that reloads has its turn here: what follows takes some 20 ms for 200 tasks.
  await new Promise(setImmediate);
  const places = new FilePlaces(source);
  const problems = new ProblemList(places);
  for (const problem of source.problems) problems.addAt(problem);
  // A text that is not valid YAML says nothing that can be relied on: what else is wrong would be a guess.
  if (!source.readable) problems.throwIfAny();
  const tree = copyTree(source.value ?? {});
  if (!isObject(tree)) {
    problems.add([], `expected the keys of a config, got ${describeValue(tree)}`);
    problems.throwIfAny();
    throw invalid(options.file, 'expected the keys of a config');
  }
  problems.nameEntries(tree);
  checkShortForms(tree, problems);
  places.moved = expandShortForms(tree);
  const scalar = (value: string) => readScalar(yaml, value);
  const overrides = { env: options.env, builtIns: options.builtIns, readScalar: scalar };
  places.origins = applyOverrides(tree, overrides, problems);
  const file = resolve(options.file);
  // Large, and most configs have none.
  const hasFlows = Array.isArray(tree.flows) && tree.flows.length > 0;
  const flows = hasFlows ? { compileFlow: (await import('../flows-part.ts')).compileFlow } : {};
  return resolveTree(tree, problems, { ...options, ...flows, file, directory: dirname(file) });
}

function readText(options: LoadOptions): string {
  if (options.readFile === undefined) {
    const read = readConfigFile(options.file);
    if ('problem' in read) throw invalid(options.file, read.problem);
    return read.text;
  }
  try {
    return options.readFile(options.file);
  } catch (error) {
    throw invalid(options.file, unreadable(error));
  }
}

function invalid(file: string, message: string): ConfigInvalid {
  return new ConfigInvalid([{ file, line: 1, column: 1, message }]);
}

/** Places in the file, except for what a short form or a variable said. */
class FilePlaces implements Places {
  moved: ReadonlyMap<string, SchemaPath> = new Map();
  origins: ReadonlyMap<string, string> = new Map();
  readonly #source: Places;

  constructor(source: Places) {
    this.#source = source;
  }

  at(path: SchemaPath, spot: Spot): Place {
    const text = pathText(path);
    const variable = this.origins.get(text);
    if (variable !== undefined) return { file: variable, line: 1, column: 1 };
    return this.#source.at(this.moved.get(text) ?? path, spot);
  }
}
