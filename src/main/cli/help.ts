/** The help: of the whole, and of one command. Written from the table of commands, so that it cannot lie. */
import { COMMON_FLAGS, type FlagSpec } from './args.ts';
import type { Command } from './command.ts';
import { EXIT_MEANINGS } from './exit-codes.ts';

export function mainHelp(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    'colibri: a task daemon for small machines. One process, one config file.',
    '',
    'Usage: colibri COMMAND [--config FILE] [--json]',
    '',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    `  ${'help'.padEnd(width)}  explain a command: colibri help COMMAND`,
    '',
    'Flags of every command:',
    ...flagLines(COMMON_FLAGS),
    '',
    'Exit codes:',
    ...EXIT_MEANINGS.map(([code, meaning]) => `  ${String(code).padStart(3)}  ${meaning}`),
    '',
  ].join('\n');
}

export function commandHelp(command: Command): string {
  const width = Math.max(...command.examples.map(([line]) => line.length));
  return [
    `colibri ${command.name}: ${command.summary}`,
    '',
    `Usage: colibri ${[command.name, command.usage].join(' ').trim()}`,
    '',
    command.about,
    '',
    'Flags:',
    ...flagLines([...command.flags, ...COMMON_FLAGS]),
    '',
    'Examples:',
    ...command.examples.map(([line, meaning]) => `  ${line.padEnd(width)}  ${meaning}`.trimEnd()),
    '',
  ].join('\n');
}

function flagLines(flags: readonly FlagSpec[]): string[] {
  const left = flags.map(({ name, short, value }) => {
    return `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;
  });
  const width = Math.max(...left.map((text) => text.length));
  return flags.map(({ summary }, i) => `  ${left[i]!.padEnd(width)}  ${summary}`);
}
