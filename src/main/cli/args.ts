/**
 * The arguments of one command, parsed by the flags it declares. `--flag value`, `--flag=value`, `-n 5`; `--`
 * ends the flags. What does not fit is a `usage` error that says what would.
 */
import { ColibriError, didYouMean } from '../../actors/kernel/index.ts';

export interface FlagSpec {
  readonly name: string;
  readonly short?: string;
  /** What the help shows for the value; none: the flag is on or off. */
  readonly value?: string;
  readonly summary: string;
  /** The value is a whole number of this range. */
  readonly range?: readonly [number, number];
}

export interface PositionalSpec {
  readonly name: string;
  readonly min: number;
  readonly max: number;
}

/** Flags that every command takes. */
export const COMMON_FLAGS: readonly FlagSpec[] = [
  {
    name: 'config',
    value: 'FILE',
    summary: 'the config (default: ./colibri.yaml, then /etc/colibri/config.yaml)',
  },
  { name: 'json', summary: 'print one JSON document' },
  { name: 'help', short: 'h', summary: 'explain the command' },
];

export class ParsedArgs {
  readonly positionals: readonly string[];
  readonly #values: ReadonlyMap<string, string>;

  constructor(values: ReadonlyMap<string, string>, positionals: readonly string[]) {
    this.#values = values;
    this.positionals = positionals;
  }

  on(flag: string): boolean {
    return this.#values.has(flag);
  }

  text(flag: string): string | null {
    return this.#values.get(flag) ?? null;
  }
}

export function parseArgs(argv: readonly string[], flags: readonly FlagSpec[]): ParsedArgs {
  const values = new Map<string, string>();
  const positionals: string[] = [];
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i]!;
    if (argument === '--') {
      positionals.push(...argv.slice(i + 1));
      break;
    }
    if (!argument.startsWith('-') || argument === '-') {
      positionals.push(argument);
      continue;
    }
    const equals = argument.indexOf('=');
    const written = equals === -1 ? argument : argument.slice(0, equals);
    const flag = flagOf(written, flags);
    let value = equals === -1 ? null : argument.slice(equals + 1);
    if (flag.value === undefined) {
      if (value !== null) throw usage(`--${flag.name}: expected no value, got ${JSON.stringify(value)}`);
      value = '';
    } else {
      value ??= argv[++i] ?? null;
      if (value === null) throw usage(`--${flag.name}: expected a value (${flag.value}), got none`);
      checkRange(flag, value);
    }
    values.set(flag.name, value);
  }
  return new ParsedArgs(values, positionals);
}

export function checkPositionals(given: readonly string[], spec: PositionalSpec): void {
  const { name, min, max } = spec;
  if (given.length < min) throw usage(`expected ${name}, got nothing`);
  if (given.length > max) {
    const expected = max === 0 ? 'no argument' : max === 1 ? `one ${name}` : `at most ${max} of ${name}`;
    throw usage(
      `expected ${expected}, got ${given
        .slice(max)
        .map((text) => JSON.stringify(text))
        .join(' ')} more`,
    );
  }
}

export function usage(message: string): ColibriError {
  return new ColibriError('usage', message);
}

function flagOf(written: string, flags: readonly FlagSpec[]): FlagSpec {
  const found = written.startsWith('--')
    ? flags.find((flag) => `--${flag.name}` === written)
    : flags.find((flag) => flag.short !== undefined && `-${flag.short}` === written);
  if (found !== undefined) return found;
  throw unknownFlag(written, flags);
}

/** `-c` is short for nothing, and may have been meant for `--config`. */
export function unknownFlag(written: string, flags: readonly FlagSpec[]): ColibriError {
  const names = flags.map((flag) => `--${flag.name}`);
  const letter = /^-[a-z]$/.test(written) ? names.find((name) => name.startsWith(`-${written}`)) : undefined;
  const hint =
    letter === undefined ? didYouMean(written, names) : `; did you mean ${JSON.stringify(letter)}?`;
  return usage(`expected a flag of this command, got ${written}${hint}`);
}

function checkRange(flag: FlagSpec, value: string): void {
  if (flag.range === undefined) return;
  const [min, max] = flag.range;
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= min && number <= max) return;
  throw usage(`--${flag.name}: expected a whole number from ${min} to ${max}, got ${JSON.stringify(value)}`);
}
