import type { Command } from '../command.ts';
import { ExitCode } from '../exit-codes.ts';

export const versionCommand: Command = {
  name: 'version',
  summary: 'print the version of this executable',
  usage: '',
  about: 'Asks no daemon; `colibri status` tells the version of the one that is running.',
  flags: [],
  positionals: { name: 'argument', min: 0, max: 0 },
  examples: [['colibri version', '']],
  async run(context) {
    context.show(
      { version: context.deps.version, runtime: process.version, flags: process.execArgv },
      ({ version }) => `colibri ${version}\n`,
    );
    return ExitCode.Done;
  },
};
