/**
 * The `with:` of `command`: its schema, and the check of what really comes in, which a trigger's payload may
 * have changed.
 */
import { constants } from 'node:os';
import { ColibriError } from '../../actors/kernel/errors.ts';
import type { JsonSchema } from '../../actors/kernel/json-schema.ts';
import type { InputProblem } from '../handler.ts';

export interface CommandInput {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string | null;
  readonly killSignal: NodeJS.Signals;
  /** What it writes to standard output is its result, JSON. */
  readonly writesResult: boolean;
}

export const commandSchema: JsonSchema = {
  type: 'object',
  properties: {
    argv: {
      description: 'Program and arguments; with shell: true one text for /bin/sh -c.',
      anyOf: [
        { type: 'array', items: { type: 'string' }, minItems: 1 },
        { type: 'string', minLength: 1 },
      ],
    },
    cwd: { type: 'string', minLength: 1, description: "Folder to run in; default: the daemon's." },
    env: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description: "Added to the daemon's environment.",
    },
    shell: { type: 'boolean', default: false, description: 'Pass argv, one text, to /bin/sh -c.' },
    stdin: { type: 'string', description: 'Written to standard input; default: none.' },
    result: {
      enum: ['output', 'json'],
      default: 'output',
      description:
        'With json, what the program writes to standard output, at most 1 MiB of JSON, is the result.',
    },
    kill_signal: {
      type: 'string',
      pattern: '^SIG[A-Z0-9]+$',
      patternMeaning: 'a signal such as SIGTERM',
      default: 'SIGTERM',
      description: 'Sent first when the run is told to stop; SIGKILL follows.',
    },
  },
  required: ['argv'],
  additionalProperties: false,
};

/** What the schema cannot say: the key that cannot work, and why; null for an input that can be run. */
export function checkCommandInput(input: unknown): InputProblem | null {
  try {
    parseCommandInput(input);
    return null;
  } catch (error) {
    if (error instanceof CommandInputInvalid) return { key: error.key, message: error.message };
    throw error;
  }
}

/** Throws `input-invalid`, naming the key. */
export function parseCommandInput(input: unknown): CommandInput {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw invalid('the input', 'an object with argv', input);
  }
  const given = input as Readonly<Record<string, unknown>>;
  const { cwd, stdin } = given;
  if (cwd !== undefined && !isText(cwd)) throw invalid('cwd', 'a folder', cwd);
  if (stdin !== undefined && textOf(stdin) === null) throw invalid('stdin', 'a string', stdin);
  return {
    ...parseArgv(given.argv, given.shell),
    cwd,
    env: parseEnv(given.env),
    stdin: textOf(stdin),
    writesResult: parseResult(given.result),
    killSignal: parseSignal(given.kill_signal),
  };
}

function parseArgv(argv: unknown, shell: unknown): Pick<CommandInput, 'file' | 'args'> {
  if (shell !== undefined && typeof shell !== 'boolean') throw invalid('shell', 'true or false', shell);
  const list = typeof argv === 'string' ? [argv] : Array.isArray(argv) ? argv.map(textOf) : [null];
  if (!list.every((part) => part !== null)) throw invalid('argv', 'a list of strings', argv);
  const [file, ...args] = list;
  if (file === undefined || file === '') throw invalid('argv', 'a program as its first string', argv);
  if (list.some((part) => part.includes('\0'))) throw invalid('argv', 'strings without NUL', argv);
  if (shell === true) {
    if (args.length > 0) throw invalid('argv', 'one text where shell is true', argv);
    return { file: '/bin/sh', args: ['-c', file] };
  }
  if (typeof argv === 'string') throw invalid('argv', 'a list of strings, or shell: true beside it', argv);
  return { file, args };
}

function parseEnv(env: unknown): Readonly<Record<string, string>> {
  if (env === undefined) return {};
  if (typeof env !== 'object' || env === null || Array.isArray(env)) {
    throw invalid('env', 'an object of strings', env);
  }
  return Object.fromEntries(
    Object.entries(env).map(([key, value]) => {
      const text = textOf(value);
      if (text === null || text.includes('\0')) throw invalid(`env.${key}`, 'a string', value);
      return [key, text];
    }),
  );
}

function parseResult(result: unknown): boolean {
  if (result === undefined || result === 'output') return false;
  if (result === 'json') return true;
  throw invalid('result', 'output or json', result);
}

function parseSignal(signal: unknown): NodeJS.Signals {
  if (signal === undefined) return 'SIGTERM';
  if (typeof signal === 'string' && Object.hasOwn(constants.signals, signal)) return signal as NodeJS.Signals;
  throw invalid('kill_signal', 'a signal such as SIGTERM', signal);
}

/** A template gives a number as what it is, and a program takes it as text. Null: neither. */
function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !value.includes('\0');
}

class CommandInputInvalid extends ColibriError {
  readonly key: string;

  constructor(key: string, message: string) {
    super('input-invalid', message);
    this.key = key;
  }
}

function invalid(key: string, expected: string, got: unknown): CommandInputInvalid {
  const shown = JSON.stringify(got) ?? typeof got;
  return new CommandInputInvalid(key, `expected ${key} to be ${expected}, got ${shown.slice(0, 200)}`);
}
