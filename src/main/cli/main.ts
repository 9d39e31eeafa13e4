/**
 * The command line: finds the command, parses its arguments, runs it, and turns whatever happens into a text
 * and an exit code. Never throws and never ends the process itself.
 */
import { errorDocument } from '../../actors/control/index.ts';
import { didYouMean, toErrorData } from '../../actors/kernel/index.ts';
import { COMMON_FLAGS, checkPositionals, parseArgs, unknownFlag, usage } from './args.ts';
import { type Command, CommandContext, paintFor } from './command.ts';
import { COMMANDS } from './commands/index.ts';
import { ExitCode, exitCodeOf } from './exit-codes.ts';
import { commandHelp, mainHelp } from './help.ts';
import type { CliDeps, CliIo, ConfigProblem } from './io.ts';
import { printableLines } from './render/text.ts';

/** `argv` is what follows the name of the program. Resolves with the exit code. */
export async function main(argv: readonly string[], io: CliIo, deps: CliDeps): Promise<number> {
  try {
    return await dispatch(argv, io, deps);
  } catch (error) {
    return report(error, argv, io);
  }
}

async function dispatch(argv: readonly string[], io: CliIo, deps: CliDeps): Promise<number> {
  const { name, rest } = splitCommand(argv);
  if (name === null || name === 'help') return help(name === null ? rest : [...rest, '--help'], io);
  const command = findCommand(name);
  const args = parseArgs(rest, [...command.flags, ...COMMON_FLAGS]);
  if (args.on('help')) {
    io.stdout.write(commandHelp(command, io.columns));
    return ExitCode.Done;
  }
  checkPositionals(args.positionals, command.positionals);
  return command.run(new CommandContext(args, io, deps));
}

/** Nothing at all is wrong usage; being asked is not. */
function help(rest: readonly string[], io: CliIo): number {
  const args = parseArgs(rest, COMMON_FLAGS);
  const [name] = args.positionals;
  const text =
    name === undefined ? mainHelp(COMMANDS, io.columns) : commandHelp(findCommand(name), io.columns);
  if (args.on('help')) {
    io.stdout.write(text);
    return ExitCode.Done;
  }
  io.stderr.write(text);
  return ExitCode.Usage;
}

function findCommand(name: string): Command {
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (command !== undefined) return command;
  const names = [...COMMANDS.map((candidate) => candidate.name), 'help'];
  throw usage(
    `expected a command (${names.join(', ')}), got ${JSON.stringify(name)}${didYouMean(name, names)}`,
  );
}

/**
 * The command is the first argument that is no flag. Flags may stand before it; one that no command has is told
 * at once, for its value would be taken for the command.
 */
function splitCommand(argv: readonly string[]): { name: string | null; rest: readonly string[] } {
  const flags = [...COMMON_FLAGS, ...COMMANDS.flatMap((command) => command.flags)];
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i]!;
    if (argument === '--version' || argument === '-v') return { name: 'version', rest: argv.toSpliced(i, 1) };
    if (!argument.startsWith('-')) return { name: argument, rest: argv.toSpliced(i, 1) };
    const [written = ''] = argument.split('=', 1);
    const flag = flags.find(({ name, short }) => written === `--${name}` || written === `-${short}`);
    if (flag === undefined) throw unknownFlag(written, COMMON_FLAGS);
    if (flag.value !== undefined && written === argument) i++;
  }
  return { name: null, rest: argv };
}

/** With `--json` one document on the standard output, so that a script always has one to read. */
function report(error: unknown, argv: readonly string[], io: CliIo): number {
  const data = toErrorData(error, 'internal');
  const code = exitCodeOf(data.code);
  const problems = problemsOf(error);
  if (argv.includes('--json')) {
    const about = problems === null ? runOf(error) : { ok: false, problems };
    const document = { ...about, error: errorDocument(data) };
    io.stdout.write(`${JSON.stringify(document)}\n`);
    return code;
  }
  const paint = paintFor(io);
  // Problems of a config stand at the start of the line, where editors look for the place.
  const head = data.code === 'config-invalid' ? '' : `${paint.paint('red', 'colibri:')} `;
  // All of them, however many; the text of other errors is cut to its bound.
  const message = problems === null ? data.message : (error as Error).message;
  io.stderr.write(`${head}${printableLines(message)}\n`);
  if (code === ExitCode.Usage) io.stderr.write(`${hintFor(argv)}\n`);
  return code;
}

/** The id of the run that an error is about, where it has one. */
function runOf(error: unknown): { readonly run?: string } {
  if (typeof error !== 'object' || error === null || !('run' in error)) return {};
  return typeof error.run === 'string' ? { run: error.run } : {};
}

function problemsOf(error: unknown): readonly ConfigProblem[] | null {
  if (typeof error !== 'object' || error === null || !('problems' in error)) return null;
  return Array.isArray(error.problems) ? error.problems : null;
}

function hintFor(argv: readonly string[]): string {
  const name = argv.find((argument) => COMMANDS.some((command) => command.name === argument));
  return name !== undefined
    ? `\`colibri help ${name}\` shows how it is used`
    : '`colibri help` lists the commands';
}
