/** What all resolving functions share while one config is resolved: options, problems and small caches. */
import { statSync } from 'node:fs';
import { checkSchema, type SchemaPath } from '../../actors/kernel/check-schema.ts';
import type { BuiltInHandler } from '../../workers/handler.ts';
import type { ProblemList } from './places.ts';
import { type RawObject, valueAt } from './raw-tree.ts';
import type { GlobSpec } from './split-glob.ts';
import type { FoundModules } from './user-modules.ts';
import { withRemedy } from './with-remedy.ts';

/** Says what is wrong with a cron expression, or null. `timeZone` null: the zone of the machine. */
export type CheckCron = (expression: string, timeZone: string | null) => string | null;

export interface ResolveOptions {
  /** What relative paths are relative to; absolute. */
  readonly directory: string;
  /** Absolute path of the file; null or absent for a config made in code. */
  readonly file?: string | null;
  /** Cores that may be used: `auto` threads, and the factor of the io slots. */
  readonly cores: number;
  readonly builtIns: readonly BuiltInHandler[];
  /** Finds user modules; the default looks on disk. */
  readonly listModules?: (glob: GlobSpec) => FoundModules;
  /** Whether the path is a folder; the default looks on disk. */
  readonly isFolder?: (path: string) => boolean;
  /** The parser of cron expressions; without it only their outer form is checked. */
  readonly checkCron?: CheckCron;
  /** Wall time; with it, an `at:` that has passed is a warning. */
  readonly nowMs?: number;
}

export class ResolveScope {
  readonly options: ResolveOptions;
  readonly problems: ProblemList;
  /** The tree as written, without defaults. */
  readonly #written: RawObject;
  readonly #builtIns: ReadonlyMap<string, BuiltInHandler>;
  readonly #zones = new Map<string, boolean>();
  readonly #cron = new Map<string, string | null>();
  readonly #folders = new Map<string, boolean>();

  constructor(options: ResolveOptions, problems: ProblemList, written: RawObject) {
    this.options = options;
    this.problems = problems;
    this.#written = written;
    this.#builtIns = new Map(options.builtIns.map((builtIn) => [builtIn.name, builtIn]));
  }

  /** Whether a user wrote the key, rather than a default. */
  isWritten(path: SchemaPath): boolean {
    return valueAt(this.#written, path) !== undefined;
  }

  builtIn(name: string): BuiltInHandler | undefined {
    return this.#builtIns.get(name);
  }

  get builtInNames(): Iterable<string> {
    return this.#builtIns.keys();
  }

  /** Many tasks look through one folder: each is asked for once. */
  isFolder(path: string): boolean {
    let known = this.#folders.get(path);
    if (known === undefined) {
      known = (this.options.isFolder ?? folderOnDisk)(path);
      this.#folders.set(path, known);
    }
    return known;
  }

  /** Intl costs over a megabyte, so it is asked only about zones that are written. */
  isTimeZone(name: string): boolean {
    let known = this.#zones.get(name);
    if (known === undefined) {
      known = intlKnows(name);
      this.#zones.set(name, known);
    }
    return known;
  }

  /** Many tasks share an expression: each is parsed once. */
  cronProblem(expression: string, timeZone: string | null): string | null {
    const key = `${timeZone ?? ''} ${expression}`;
    let problem = this.#cron.get(key);
    if (problem === undefined) {
      problem = outerCronProblem(expression) ?? this.options.checkCron?.(expression, timeZone) ?? null;
      this.#cron.set(key, problem);
    }
    return problem;
  }

  /** Checks a part against a schema of its own; its problems get their full paths. */
  check(schema: Parameters<typeof checkSchema>[0], value: unknown, path: SchemaPath): boolean {
    const problems = checkSchema(schema, value);
    for (const one of problems) {
      const message = withRemedy(one, schema);
      this.problems.add([...path, ...one.path], message, one.onKey ? 'key' : 'value');
    }
    return problems.length === 0;
  }
}

const CRON_WORDS: readonly string[] = [
  '@yearly',
  '@annually',
  '@monthly',
  '@weekly',
  '@daily',
  '@midnight',
  '@hourly',
];

function outerCronProblem(expression: string): string | null {
  const trimmed = expression.trim();
  if (trimmed.startsWith('@')) {
    if (CRON_WORDS.includes(trimmed)) return null;
    const remedy = trimmed === '@reboot' ? '; use run_on_start: true' : '';
    return `expected one of ${CRON_WORDS.join(', ')}, got ${JSON.stringify(trimmed)}${remedy}`;
  }
  const fields = trimmed === '' ? 0 : trimmed.split(/\s+/).length;
  if (fields === 5 || fields === 6) return null;
  return `expected a cron expression of 5 fields, or 6 with seconds first, got ${fields} in ${JSON.stringify(expression)}`;
}

/** A folder that cannot be looked at is told by the scan, with the reason. */
function folderOnDisk(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    return true;
  }
}

function intlKnows(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
    return true;
  } catch {
    return false;
  }
}
