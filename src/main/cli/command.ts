/** What a command is, and what it is given when it runs. */
import { join, resolve } from 'node:path';
import { ColibriError } from '../../actors/kernel/index.ts';
import type { Config } from '../config/config.ts';
import type { FlagSpec, ParsedArgs, PositionalSpec } from './args.ts';
import { ControlClient } from './client.ts';
import type { CliDeps, CliIo } from './io.ts';
import type { ListOptions } from './render/lists.ts';
import { Paint } from './render/paint.ts';
import { currentUser } from './user.ts';

export interface Command {
  readonly name: string;
  readonly summary: string;
  /** What follows the name: `TASK [--wait]`. */
  readonly usage: string;
  /** A few sentences on what it does. */
  readonly about: string;
  readonly flags: readonly FlagSpec[];
  readonly positionals: PositionalSpec;
  /** Command line and what it does. */
  readonly examples: readonly (readonly [string, string])[];
  readonly run: (context: CommandContext) => Promise<number>;
}

export class CommandContext {
  readonly args: ParsedArgs;
  readonly io: CliIo;
  readonly deps: CliDeps;
  readonly paint: Paint;

  constructor(args: ParsedArgs, io: CliIo, deps: CliDeps) {
    this.args = args;
    this.io = io;
    this.deps = deps;
    this.paint = paintFor(io);
  }

  get json(): boolean {
    return this.args.on('json');
  }

  print(text: string): void {
    if (text !== '') this.io.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
  }

  /** With `--json` the document, else what `render` makes of it. */
  show<T>(document: T, render: (document: T) => string): void {
    this.print(this.json ? JSON.stringify(document) : render(document));
  }

  /** The absolute path of the config; rejects with `config-invalid` where there is none. */
  async configFile(): Promise<string> {
    const named = this.args.text('config');
    if (named !== null) return resolve(this.io.cwd, named);
    const found = await this.deps.findConfigFile(this.io.cwd);
    if (found !== null) return found;
    throw new ColibriError(
      'config-invalid',
      `expected a config at ${join(this.io.cwd, 'colibri.yaml')} or /etc/colibri/config.yaml, got none; name one with --config FILE`,
    );
  }

  /** A broken config is told, not guessed around. */
  async config(): Promise<Config> {
    return (await this.deps.loadConfig(await this.configFile())).config;
  }

  /** The daemon that runs by the same config. */
  async client(): Promise<ControlClient> {
    return this.clientAt((await this.config()).stateDir);
  }

  /** The daemon that holds this state directory. */
  clientAt(stateDir: string): ControlClient {
    return new ControlClient(join(stateDir, 'control.sock'), { user: currentUser(this.io.env) });
  }
}

export function paintFor(io: CliIo): Paint {
  const { NO_COLOR: noColour, TERM: term } = io.env;
  return new Paint(io.isTTY && (noColour === undefined || noColour === '') && term !== 'dumb');
}

export function listOptions({ io, paint }: CommandContext): ListOptions {
  return { isTTY: io.isTTY, columns: io.columns, nowMs: io.nowMs(), paint };
}
