import { resolve } from 'node:path';
import { MAX_BODY_BYTES, type RunDocument } from '../../../actors/control/index.ts';
import { usage } from '../args.ts';
import type { Command, CommandContext } from '../command.ts';
import { ExitCode } from '../exit-codes.ts';
import { endedLine } from '../render/run.ts';

interface Triggered {
  readonly run: string;
  readonly ended: RunDocument | null;
}

export const triggerCommand: Command = {
  name: 'trigger',
  summary: 'run a task now',
  usage: 'TASK [--payload JSON|@FILE|-] [--wait] [--force]',
  about:
    'Makes a run of the task at once, beside its schedule, and prints the id of the run. The payload is laid over the ' +
    "task's `with`. The task's overlap policy holds unless --force is given. With --wait the command ends when the run " +
    'does: 0 for success, 1 for any other end; Ctrl-C stops the waiting, not the run.',
  flags: [
    {
      name: 'payload',
      value: 'JSON|@FILE|-',
      summary: 'input for the handler: JSON, a file of it, or the standard input',
    },
    { name: 'wait', summary: 'wait for the end and print it' },
    { name: 'force', summary: 'run although the task is running already' },
  ],
  positionals: { name: 'TASK', min: 1, max: 1 },
  examples: [
    ['colibri trigger daily-report --wait', 'run it and see how it ends'],
    [`colibri trigger resize --payload '{"path":"a.png"}'`, 'with its input'],
    ['jq -c .order order.json | colibri trigger import --payload -', 'with the input of a pipe'],
  ],
  async run(context) {
    const [task] = context.args.positionals;
    const wait = context.args.on('wait');
    const payload = await readPayload(context);
    const client = await context.client();
    const body = {
      task,
      wait,
      force: context.args.on('force'),
      ...(payload === undefined ? {} : { payload }),
    };
    if (!wait) {
      const { run } = (await client.post('/trigger', { body })) as Triggered;
      context.show({ run, ended: null }, () => `${run}\n`);
      return ExitCode.Done;
    }
    const abort = new AbortController();
    const release = context.io.onInterrupt(() => abort.abort());
    try {
      const reply = (await client.post('/trigger', {
        body,
        timeoutMs: null,
        signal: abort.signal,
      })) as Triggered;
      const { run, ended } = reply;
      const options = { paint: context.paint, isTTY: context.io.isTTY };
      context.show(reply, () => (ended === null ? `${run}\n` : endedLine(ended, options)));
      return ended?.state === 'success' ? ExitCode.Done : ExitCode.Failed;
    } catch (error) {
      if (!abort.signal.aborted) throw error;
      context.io.stderr.write('stopped waiting; the run goes on, `colibri runs` shows it\n');
      return ExitCode.Interrupted;
    } finally {
      release();
    }
  },
};

/** Undefined: none given. Checked here, so that a typo is told without a daemon. */
async function readPayload({ args, io }: CommandContext): Promise<unknown> {
  const given = args.text('payload');
  if (given === null) return undefined;
  const text = await payloadText(given, io);
  if (Buffer.byteLength(text) > MAX_BODY_BYTES - 1024) {
    throw usage(
      `--payload: expected less than ${MAX_BODY_BYTES} bytes, got ${Buffer.byteLength(text)}; pass a path instead`,
    );
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usage(
      `--payload: expected JSON, such as '{"path":"a.txt"}' or '"a text"', got ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

async function payloadText(given: string, io: CommandContext['io']): Promise<string> {
  if (given === '-') {
    const pieces: Buffer[] = [];
    let length = 0;
    for await (const piece of io.stdin) {
      pieces.push(Buffer.from(piece));
      length += piece.length;
      if (length > MAX_BODY_BYTES) break;
    }
    return Buffer.concat(pieces).toString('utf8');
  }
  if (!given.startsWith('@')) return given;
  const file = resolve(io.cwd, given.slice(1));
  try {
    return await process.getBuiltinModule('node:fs/promises').readFile(file, 'utf8');
  } catch (error) {
    throw usage(
      `--payload: expected a file that can be read, got ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
