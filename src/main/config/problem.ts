/** What is wrong with a config, with the place, and the error that carries all of it. */
import { ColibriError } from '../../actors/kernel/errors.ts';

export interface Problem {
  /** The config file as it was named, the name of an environment variable, or `options` for a config made in code. */
  readonly file: string;
  /** From 1; 0 where there is no text to point into. */
  readonly line: number;
  /** From 1, in UTF-16 code units; 0 where there is no text to point into. */
  readonly column: number;
  readonly message: string;
}

/** `file:line:column: message`, or `file: message` for a problem that has no place in a text. */
export function formatProblem(problem: Problem): string {
  const { file, line, column, message } = problem;
  return line === 0 ? `${file}: ${message}` : `${file}:${line}:${column}: ${message}`;
}

/** The config cannot be used. `problems` holds at least one, in the order of their places. */
export class ConfigInvalid extends ColibriError {
  readonly problems: readonly Problem[];
  /** Found beside the problems. */
  readonly warnings: readonly Problem[];

  constructor(problems: readonly Problem[], warnings: readonly Problem[] = []) {
    super('config-invalid', problems.map(formatProblem).join('\n'));
    this.name = 'ConfigInvalid';
    this.problems = problems;
    this.warnings = warnings;
  }
}
