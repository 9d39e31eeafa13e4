/**
 * Where the parts of a config come from, and the list of what is wrong with them. A place is asked for by the
 * path of the part (`tasks`, 3, `handler`) whatever it was written as: in the file, as a short form, or in a
 * variable of the environment.
 */
import type { SchemaPath } from '../../actors/kernel/check-schema.ts';
import { ConfigInvalid, type Problem } from './problem.ts';
import { type RawObject, valueAt } from './raw-tree.ts';
import { NAME_PATTERN } from './schema-parts.ts';

/** The key itself (it should not be there), or its value. */
export type Spot = 'key' | 'value';

export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface Places {
  /** The place of the part, or of the nearest one around it that exists. */
  at(path: SchemaPath, spot: Spot): Place;
}

/** For a config made in code: no text, so the path in the message is all there is. */
export const placesInOptions: Places = { at: () => ({ file: 'options', line: 0, column: 0 }) };

/** What is shown of names: others are problems themselves. */
const TASK_NAME = new RegExp(NAME_PATTERN);

/** Problems kept; the rest of a file that is all wrong is not listed. */
const MAX_LISTED = 1000;

/** Collects problems and warnings, each with its place, and ends the load when there are any problems. */
export class ProblemList {
  readonly #places: Places;
  readonly #problems: Problem[] = [];
  readonly #paths: SchemaPath[] = [];
  readonly #warnings: Problem[] = [];
  readonly #names = new Map<string | number | undefined, readonly (string | undefined)[]>();

  constructor(places: Places) {
    this.#places = places;
  }

  /** From now on the path of a part of a task, or a flow, names it too: `tasks[7] (primes).every`. */
  nameEntries(tree: RawObject): void {
    for (const section of ['tasks', 'flows']) {
      const entries: unknown = tree[section];
      const list: readonly unknown[] = Array.isArray(entries) ? entries : [];
      this.#names.set(
        section,
        list.map((entry) => {
          const name = valueAt(entry, ['name']);
          return typeof name === 'string' && TASK_NAME.test(name) ? name : undefined;
        }),
      );
    }
  }

  get count(): number {
    return this.#problems.length;
  }

  /** `message` is of the form *expected …, got …*; the path is put before it. */
  add(path: SchemaPath, message: string, spot: Spot = 'value'): void {
    if (this.#problems.length >= MAX_LISTED) return;
    this.#problems.push(this.#place(path, message, spot));
    this.#paths.push(path);
  }

  /** Whether the part, or what is within it, is a problem: what is left of it says nothing. */
  hasWithin(part: SchemaPath): boolean {
    return this.#paths.some((path) => part.every((step, at) => step === path[at]));
  }

  /** A problem that belongs to no part of the config. */
  addAt(problem: Problem): void {
    if (this.#problems.length < MAX_LISTED) this.#problems.push(problem);
  }

  warn(path: SchemaPath, message: string, spot: Spot = 'value'): void {
    if (this.#warnings.length < MAX_LISTED) this.#warnings.push(this.#place(path, message, spot));
  }

  warnAt(problem: Problem): void {
    if (this.#warnings.length < MAX_LISTED) this.#warnings.push(problem);
  }

  /** Line and column of a part, as words, for messages that name a second place. */
  where(path: SchemaPath): string {
    const { file, line } = this.#places.at(path, 'value');
    return line === 0 ? pathText(path) : `${file}:${line}`;
  }

  get warnings(): readonly Problem[] {
    return this.#warnings.toSorted(byPlace);
  }

  /** Throws `ConfigInvalid` with everything found, if there are problems. */
  throwIfAny(): void {
    if (this.#problems.length > 0) throw new ConfigInvalid(this.#problems.toSorted(byPlace), this.warnings);
  }

  #place(path: SchemaPath, message: string, spot: Spot): Problem {
    const { file, line, column } = this.#places.at(path, spot);
    return { file, line, column, message: path.length === 0 ? message : `${this.#named(path)}: ${message}` };
  }

  #named(path: SchemaPath): string {
    const text = pathText(path);
    const [section, index] = path;
    const names = this.#names.get(section);
    const name = typeof index === 'number' && path.length >= 2 ? names?.[index] : undefined;
    if (name === undefined) return text;
    const start = pathText(path.slice(0, 2));
    return `${start} (${name})${text.slice(start.length)}`;
  }
}

/** `tasks[3].backoff.kind`. */
export function pathText(path: SchemaPath): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[\w-]+$/.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${JSON.stringify(step.length > 64 ? `${step.slice(0, 64)}…` : step)}]`;
  }
  return text;
}

function byPlace(a: Problem, b: Problem): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.line - b.line || a.column - b.column;
}
