import { resolve } from 'node:path';
import { MAX_BODY_BYTES } from '../../../actors/control/index.ts';
import { MAX_DELAY_MS, parseDuration, parseInstant } from '../../../actors/kernel/parse-time.ts';
import { usage } from '../args.ts';
import type { Command, CommandContext } from '../command.ts';
import { ExitCode } from '../exit-codes.ts';
import { endedLine } from '../render/run.ts';
import { waitForRun } from '../wait-for-run.ts';

interface Triggered {
  readonly run: string;
  /** Null: now. */
  readonly due_at: string | null;
}

export const triggerCommand: Command = {
  name: 'trigger',
  summary: 'run a task now, or once later',
  usage: 'TASK [--payload JSON] [--in TIME | --at INSTANT] [--wait]',
  about:
    'Makes a run of the task at once, beside its schedule, and prints the id of the run. The payload is laid over the ' +
    "task's `with`. The task's overlap policy holds unless --force is given. With --in or --at the run begins later: it " +
    'is kept until then, also over a restart, `show` and `cancel` know it, and overlap is looked at when its time has ' +
    'come. With --wait the command ends when the run does: 0 for success, 1 for any other end; Ctrl-C stops the ' +
    'waiting, not the run.',
  flags: [
    {
      name: 'payload',
      value: 'JSON|@FILE|-',
      summary: 'input for the handler: JSON, a file of it, or the standard input',
    },
    { name: 'in', value: 'TIME', summary: 'begin after this time, such as 90s, 15m or 1d12h' },
    { name: 'at', value: 'INSTANT', summary: 'begin at this instant, such as 2026-12-24T18:00:00Z' },
    { name: 'wait', summary: 'wait for the end and print it' },
    { name: 'force', summary: 'run although the task is running already' },
  ],
  positionals: { name: 'TASK', min: 1, max: 1 },
  examples: [
    ['colibri trigger daily-report --wait', 'run it and see how it ends'],
    ['colibri trigger daily-report --in 90s', 'once, in a minute and a half'],
    [`colibri trigger resize --payload '{"path":"a.png"}'`, 'with its input'],
    ['jq -c .order order.json | colibri trigger import --payload -', 'with the input of a pipe'],
  ],
  async run(context) {
    const [task] = context.args.positionals;
    const dueAtMs = readDueTime(context);
    const payload = await readPayload(context);
    const body = {
      task,
      force: context.args.on('force'),
      ...(payload === undefined ? {} : { payload }),
      ...(dueAtMs === null ? {} : { due_at: new Date(dueAtMs).toISOString() }),
    };
    return sendTrigger(context, body);
  },
};

/** Prints the id of the run; with --wait how it ended. */
export async function sendTrigger(
  context: CommandContext,
  body: Readonly<Record<string, unknown>>,
): Promise<number> {
  const config = await context.config();
  const client = context.clientAt(config.stateDir);
  if (!context.args.on('wait')) {
    const { run, due_at } = (await client.post('/trigger', { body })) as Triggered;
    context.show({ run, due_at, ended: null }, () => `${run}\n`);
    return ExitCode.Done;
  }
  return await waiting(context, async (signal, accepted) => {
    // A full queue may hold the answer back.
    const { run, due_at } = (await client.post('/trigger', { body, timeoutMs: null, signal })) as Triggered;
    accepted(run);
    const ended = await waitForRun(client, run, { signal, isKept: config.store.kind !== 'memory' });
    const options = { paint: context.paint, isTTY: context.io.isTTY };
    context.show({ run, due_at, ended }, () => endedLine(ended, options));
    return ended.state === 'success' ? ExitCode.Done : ExitCode.Failed;
  });
}

/** Ctrl-C ends the waiting, and says what it was for as far as it is known. */
async function waiting(
  { io }: CommandContext,
  wait: (signal: AbortSignal, accepted: (run: string) => void) => Promise<ExitCode>,
): Promise<ExitCode> {
  const abort = new AbortController();
  const release = io.onInterrupt(() => abort.abort());
  let run: string | null = null;
  try {
    return await wait(abort.signal, (accepted) => {
      run = accepted;
    });
  } catch (error) {
    if (!abort.signal.aborted) throw error;
    const rest =
      run === null ? 'the run goes on, `colibri runs` shows it' : `${run} goes on, \`colibri show\` shows it`;
    io.stderr.write(`stopped waiting; ${rest}\n`);
    return ExitCode.Interrupted;
  } finally {
    release();
  }
}

/** Null: now. */
function readDueTime({ args, io }: CommandContext): number | null {
  const wait = args.text('in');
  const instant = args.text('at');
  if (wait === null && instant === null) return null;
  if (wait !== null && instant !== null) throw usage('expected one of --in and --at, got both');
  if (args.on('force')) {
    throw usage('expected --force or a later time, got both: whether the task runs is seen at that time');
  }
  if (wait !== null) {
    const waitMs = parseDuration(wait);
    if (waitMs === null || waitMs > MAX_DELAY_MS) {
      throw usage(
        `--in: expected a time such as 90s, 15m or 1d12h, of at most ten years, got ${JSON.stringify(wait)}`,
      );
    }
    return Math.ceil(io.nowMs() + waitMs);
  }
  const parsed = parseInstant(instant!);
  const got = JSON.stringify(instant);
  if ('problem' in parsed) throw usage(`--at: expected ${parsed.problem}, got ${got}`);
  if (parsed.atMs < io.nowMs() || parsed.atMs > io.nowMs() + MAX_DELAY_MS) {
    throw usage(`--at: expected an instant to come within ten years, got ${got}`);
  }
  return parsed.atMs;
}

/** Undefined: none given. Checked here, so that a typo is told without a daemon. */
export async function readPayload({ args, io }: CommandContext): Promise<unknown> {
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
