import { ColibriError, toErrorData } from '../../../actors/kernel/index.ts';
import type { Command, CommandContext } from '../command.ts';
import { ExitCode } from '../exit-codes.ts';
import { tasksText } from '../render/text.ts';

interface Reloaded {
  readonly changed: boolean;
  readonly config_version: string | null;
  readonly tasks: number;
  /** Where something has: the first few, and how many more. */
  readonly changes?: readonly string[];
  readonly more?: number;
}

/** As long as a large file may take beside everything else that the daemon does. */
const RELOAD_MS = 60_000;

export const reloadCommand: Command = {
  name: 'reload',
  summary: 'let the daemon read its config anew and say what it makes of it',
  usage: '',
  about:
    'The daemon reads and checks its file as it did at its start. Exit code 0: nothing has changed, or other bounds on runs ' +
    'at one time, priorities or another version, which are taken up at once; 78: it is wrong, and every problem is listed; 1: ' +
    'it differs in something else, which this version takes up at a start only. In both of these cases the daemon goes on as ' +
    'before.',
  flags: [],
  positionals: { name: 'argument', min: 0, max: 0 },
  examples: [
    ['colibri reload', 'after an edit'],
    ['colibri reload --json', 'for a script: { changed, config_version, tasks, … }, or { problems, error }'],
  ],
  async run(context) {
    const document = (await reload(context)) as Reloaded;
    context.show(document, reloadedText);
    return ExitCode.Done;
  },
};

function reloadedText({ tasks, changes = [], more = 0 }: Reloaded): string {
  if (changes.length === 0) return `nothing has changed, ${tasksText(tasks, 0)}\n`;
  return `taken up: ${changes.join(', ')}${more === 0 ? '' : ` and ${more} more`}\n`;
}

/**
 * A config that is wrong is for the daemon to refuse, so that its log and its metrics know of it; only where none
 * answers is it refused here.
 */
async function reload(context: CommandContext): Promise<unknown> {
  const file = await context.configFile();
  let stateDir: string;
  let wrong: unknown = null;
  try {
    stateDir = (await context.deps.loadConfig(file)).config.stateDir;
  } catch (error) {
    if (toErrorData(error, 'internal').code !== 'config-invalid') throw error;
    wrong = error;
    stateDir = await context.deps.stateDirOf(file);
  }
  try {
    return await context.clientAt(stateDir).post('/reload', { timeoutMs: RELOAD_MS });
  } catch (error) {
    throw wrong !== null && error instanceof ColibriError && error.code === 'no-daemon' ? wrong : error;
  }
}
