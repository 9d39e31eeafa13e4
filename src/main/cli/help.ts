/** The help: of the whole, and of one command. Written from the table of commands, so that it cannot lie. */
import { COMMON_FLAGS, type FlagSpec } from './args.ts';
import type { Command } from './command.ts';
import { EXIT_MEANINGS } from './exit-codes.ts';
import { wrap } from './render/text.ts';

/** No line is wider than `columns`, as far as its words allow. */
export function mainHelp(commands: readonly Command[], columns: number): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    'colibri: a task daemon for small machines. One process, one config file.',
    '',
    'Usage: colibri COMMAND [--config FILE] [--json]',
    '',
    ...commands.flatMap(({ name, summary }) => hanging(name.padEnd(width), summary, columns)),
    ...hanging('help'.padEnd(width), 'explain a command: colibri help COMMAND', columns),
    '',
    'Flags of every command:',
    ...flagLines(COMMON_FLAGS, columns),
    '',
    'Exit codes:',
    ...EXIT_MEANINGS.flatMap(([code, meaning]) => hanging(String(code).padStart(3), meaning, columns)),
    '',
  ].join('\n');
}

export function commandHelp(command: Command, columns: number): string {
  const width = Math.max(...command.examples.map(([line]) => line.length));
  // A command line is never broken; where it leaves no room, what it does stands below it.
  const roomy = command.examples.every(([, meaning]) => width + meaning.length + 4 <= columns);
  return [
    ...wrap(`colibri ${command.name}: ${command.summary}`, columns),
    '',
    `Usage: colibri ${[command.name, command.usage].join(' ').trim()}`,
    '',
    ...wrap(command.about, columns),
    '',
    'Flags:',
    ...flagLines([...command.flags, ...COMMON_FLAGS], columns),
    '',
    'Examples:',
    ...command.examples.flatMap(([line, meaning]) => {
      if (roomy) return [`  ${line.padEnd(width)}  ${meaning}`.trimEnd()];
      return [`  ${line}`, ...wrap(meaning, columns - 6).map((part) => `      ${part}`)];
    }),
    '',
  ].join('\n');
}

function flagLines(flags: readonly FlagSpec[], columns: number): string[] {
  const left = flags.map(({ name, short, value }) => {
    return `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;
  });
  const width = Math.max(...left.map((text) => text.length));
  return flags.flatMap(({ summary }, i) => hanging(left[i]!.padEnd(width), summary, columns));
}

/** `  name  text`, the text wrapped below itself. */
function hanging(name: string, text: string, columns: number): string[] {
  const indent = name.length + 4;
  return wrap(text, columns - indent).map((line, i) => (i === 0 ? `  ${name}  ` : ' '.repeat(indent)) + line);
}
