import { ColibriError, toErrorData } from '../../../actors/kernel/index.ts';
import type { Command, CommandContext } from '../command.ts';
import { ExitCode } from '../exit-codes.ts';

interface Reloaded {
  readonly changed: boolean;
  readonly config_version: string | null;
  readonly tasks: number;
}

/** As long as a large file may take beside everything else that the daemon does. */
const RELOAD_MS = 60_000;

export const reloadCommand: Command = {
  name: 'reload',
  summary: 'let the daemon read its config anew and say what it makes of it',
  usage: '',
  about:
    'The daemon reads and checks its file as it did at its start. Exit code 0: nothing has changed; 78: it is wrong, and ' +
    'every problem is listed; 1: it differs from the config in use, which this version takes up at a start only. In each ' +
    'case the daemon goes on as before.',
  flags: [],
  positionals: { name: 'argument', min: 0, max: 0 },
  examples: [
    ['colibri reload', 'after an edit'],
    ['colibri reload --json', 'for a script: { changed, config_version, tasks }, or { problems, error }'],
  ],
  async run(context) {
    const document = (await reload(context)) as Reloaded;
    context.show(
      document,
      ({ tasks }) => `nothing has changed, ${tasks} ${tasks === 1 ? 'task' : 'tasks'}\n`,
    );
    return ExitCode.Done;
  },
};

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
