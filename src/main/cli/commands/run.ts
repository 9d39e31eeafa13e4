import type { Command } from '../command.ts';

export const runCommand: Command = {
  name: 'run',
  summary: 'run the daemon in the foreground until it is told to stop',
  usage: '',
  about:
    'Loads the config, takes the state directory and runs every task when it is due. SIGTERM and Ctrl-C stop it in ' +
    'order: running work gets its grace; a second signal ends it at once. Lines are readable ' +
    'on a terminal and JSON elsewhere.',
  flags: [],
  positionals: { name: 'argument', min: 0, max: 0 },
  examples: [
    ['colibri run', 'with ./colibri.yaml'],
    ['colibri run --config /etc/colibri/config.yaml', 'as a service does'],
  ],
  async run(context) {
    const abandon = context.deps.prepareDaemon?.();
    try {
      // What it is warned of is said by the daemon, in its log.
      return await context.deps.runDaemon(await context.deps.loadConfig(await context.configFile()));
    } finally {
      abandon?.();
    }
  },
};
