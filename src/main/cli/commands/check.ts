import type { Command } from '../command.ts';
import { ExitCode } from '../exit-codes.ts';
import { tasksText } from '../render/text.ts';

export const checkCommand: Command = {
  name: 'check',
  summary: 'check the config and list every problem at once',
  usage: '',
  about:
    'Reads the config as `run` would and starts nothing. Problems are listed as file:line:column: message, so that an ' +
    'editor can jump to them. Warnings say what is seldom meant, such as a rate of firing, and what is to come, such as a ' +
    'change of the clocks that moves a run. Exit code 0: the config can be used; 78: it cannot.',
  flags: [],
  positionals: { name: 'argument', min: 0, max: 0 },
  examples: [
    ['colibri check', 'the config that `run` would use'],
    [
      'colibri check --config new.yaml --json',
      'for a script: { ok, file, tasks, flows, problems, warnings }',
    ],
  ],
  async run(context) {
    const file = await context.configFile();
    const { config, warnings } = await context.deps.loadConfig(file, { lookAhead: true });
    const flows = config.flows.length;
    const document = { ok: true, file, tasks: config.tasks.length, flows, problems: [], warnings };
    context.show(document, () => {
      const lines = warnings.map((warning) => `warning: ${context.deps.formatProblem(warning)}\n`);
      return `${lines.join('')}${file}: ${context.paint.paint('green', 'ok')}, ${tasksText(config.tasks.length, flows)}\n`;
    });
    return ExitCode.Done;
  },
};
