/** What all resolving functions share while one config is resolved: options, problems and small caches. */
import { statSync } from 'node:fs';
import type { compileFlow } from '../../actors/flow/index.ts';
import { checkSchema, describeValue, type SchemaPath } from '../../actors/kernel/check-schema.ts';
import type { BuiltInHandler } from '../../workers/handler.ts';
import type { CronFields, ScheduledSpec } from './config.ts';
import type { ProblemList } from './places.ts';
import { type RawObject, valueAt } from './raw-tree.ts';
import type { GlobSpec } from './split-glob.ts';
import type { FoundModules } from './user-modules.ts';
import { withRemedy } from './with-remedy.ts';

export type ParsedCron = { readonly fields: CronFields } | { readonly problem: string };

export interface ScheduleWarning {
  /** Its place in the list of tasks, and after them flows. */
  readonly task: number;
  /** The key that it is about; absent: the schedule itself. */
  readonly key?: 'stop_at' | 'exclude';
  /** Of the form *expected …, got …; remedy*. */
  readonly message: string;
}

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
  /** Names of handlers that are functions of the program itself. */
  readonly functions?: ReadonlySet<string>;
  /** Modules beside those that `handlers` finds: name → absolute path. */
  readonly modules?: ReadonlyMap<string, string>;
  /** Whether the path is a folder; the default looks on disk. */
  readonly isFolder?: (path: string) => boolean;
  /** The parser of cron expressions: large, so only a caller that expects any brings it. */
  readonly parseCron?: (expression: string) => ParsedCron;
  /** What looks at flows: only a caller that expects any brings it. */
  readonly compileFlow?: typeof compileFlow;
  /** Wall time; with it, an `at:` that has passed is a warning. */
  readonly nowMs?: number;
  /** What a schedule says and probably does not mean; asked where the config has no problems. */
  readonly warnOfSchedules?: (tasks: readonly ScheduledSpec[]) => readonly ScheduleWarning[];
  /** Texts of the paths of keys that a program put in: a misspelt key may be meant for one of them. */
  readonly added?: ReadonlySet<string>;
}

export class ResolveScope {
  readonly options: ResolveOptions;
  readonly problems: ProblemList;
  /** The tree as written, without defaults. */
  readonly #written: RawObject;
  readonly #builtIns: ReadonlyMap<string, BuiltInHandler>;
  readonly #zones = new Map<string, boolean>();
  readonly #cron = new Map<string, ParsedCron>();
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

  isTimeZone(name: string): boolean {
    let known = this.#zones.get(name);
    if (known === undefined) {
      known = isZone(name);
      this.#zones.set(name, known);
    }
    return known;
  }

  /** Many tasks share an expression: each is parsed once, and its fields are shared too. */
  cron(expression: string): ParsedCron {
    let parsed = this.#cron.get(expression);
    if (parsed === undefined) {
      parsed = this.options.parseCron?.(expression) ?? noParser(expression);
      this.#cron.set(expression, parsed);
    }
    return parsed;
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

function noParser(expression: string): ParsedCron {
  const got = describeValue(expression);
  return {
    problem: `expected no cron expression, got ${got}: options.parseCron is not given; give it or use every`,
  };
}

/** A folder that cannot be looked at is told by the scan, with the reason. */
function folderOnDisk(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    return true;
  }
}

/** An IANA name or an offset. `Temporal` also takes whole dates for zones; what it makes of those is another text. */
function isZone(name: string): boolean {
  try {
    const id = Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId;
    return id.toLowerCase() === name.toLowerCase() || /^[+-]\d\d(:?\d\d)?$/.test(name);
  } catch {
    return false;
  }
}
