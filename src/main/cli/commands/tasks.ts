import type { TaskDocument } from '../../../actors/control/index.ts';
import { type Command, listOptions } from '../command.ts';
import { ExitCode } from '../exit-codes.ts';
import { taskList } from '../render/lists.ts';

export const tasksCommand: Command = {
  name: 'tasks',
  summary: 'list the tasks: last end, next start, what runs and waits',
  usage: '',
  about: 'In a pipe: one task a line, separated by tabs, times as ISO text.',
  flags: [],
  positionals: { name: 'argument', min: 0, max: 0 },
  examples: [
    ['colibri tasks', 'all of them'],
    [
      `colibri tasks --json | jq -r '.tasks[] | select(.last_state == "failed") | .name'`,
      'those that failed last',
    ],
  ],
  async run(context) {
    const document = (await (await context.client()).get('/tasks')) as { tasks: readonly TaskDocument[] };
    context.show(document, ({ tasks }) => taskList(tasks, listOptions(context)));
    return ExitCode.Done;
  },
};
