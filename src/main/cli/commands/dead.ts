import {
  type DeadLetterDocument,
  MAX_LIMIT,
  MOMENT_FORM,
  parseMoment,
} from '../../../actors/control/index.ts';
import { didYouMean } from '../../../actors/kernel/index.ts';
import { usage } from '../args.ts';
import { type Command, type CommandContext, listOptions } from '../command.ts';
import { ExitCode } from '../exit-codes.ts';
import { deadLetterList } from '../render/lists.ts';
import { oneLine } from '../render/text.ts';

const ACTIONS = ['list', 'replay', 'purge'] as const;
type Action = (typeof ACTIONS)[number];

export const deadCommand: Command = {
  name: 'dead',
  summary: 'list, replay or purge dead letters: runs that failed for good',
  usage: 'list|replay|purge [RUN… | --task TASK | --since T | --all]',
  about:
    'replay makes a new run of each chosen dead letter with the same input; purge forgets them. Both say how many, and ' +
    'both want to be told which: run ids, or those of a task, of a time or of both, or --all. A time is an instant with its ' +
    'zone, or a span such as 2h that means so long ago.',
  flags: [
    { name: 'task', value: 'TASK', summary: 'those of this task' },
    { name: 'since', value: 'T', summary: 'those that died at T or later' },
    { name: 'until', value: 'T', summary: 'those that died before T' },
    { name: 'all', summary: 'all of them' },
    {
      name: 'limit',
      short: 'n',
      value: 'N',
      summary: 'list: at most so many (default 50)',
      range: [1, MAX_LIMIT],
    },
  ],
  positionals: { name: 'list, replay or purge', min: 1, max: Number.POSITIVE_INFINITY },
  examples: [
    ['colibri dead list', 'what waits for a decision'],
    [
      'colibri dead replay --task import --since 2h',
      'try all of one task again that failed in the last two hours',
    ],
    ['colibri dead purge --all', 'forget them'],
  ],
  async run(context) {
    const [given = '', ...runs] = context.args.positionals;
    const action = ACTIONS.find((name) => name === given);
    if (action === undefined) {
      throw usage(
        `expected list, replay or purge, got ${JSON.stringify(given)}${didYouMean(given, ACTIONS)}`,
      );
    }
    return action === 'list' ? list(context, runs) : change(context, action, runs);
  },
};

async function list(context: CommandContext, runs: readonly string[]): Promise<number> {
  if (runs.length > 0) throw usage('dead list: expected no run ids; `colibri show RUN` shows one');
  const { args } = context;
  const query = { task: args.text('task'), ...rangeOf(context), limit: args.text('limit') };
  const client = await context.client();
  const document = (await client.get('/dead', query)) as { dead_letters: readonly DeadLetterDocument[] };
  context.show(document, ({ dead_letters }) => deadLetterList(dead_letters, listOptions(context)));
  return ExitCode.Done;
}

async function change(context: CommandContext, action: Action, runs: readonly string[]): Promise<number> {
  const body = choiceOf(context, action, runs);
  const client = await context.client();
  if (action === 'purge') {
    const document = (await client.post('/dead/purge', { body })) as Changed & { purged: number };
    context.show(document, ({ purged }) => (isNothing(document, purged) ? '' : `${purged} purged\n`));
    return tellUnknown(context, document) ? ExitCode.Failed : ExitCode.Done;
  }
  const document = (await client.post('/dead/replay', { body })) as Changed & {
    runs: readonly string[];
    refused: number;
  };
  context.show(document, () => {
    if (isNothing(document, document.runs.length + document.refused)) return '';
    const refused =
      document.refused === 0 ? '' : `, ${document.refused} refused: no room, they stay dead letters`;
    return `${document.runs.length} replayed${refused}\n`;
  });
  const unknown = tellUnknown(context, document);
  return unknown || document.refused > 0 ? ExitCode.Failed : ExitCode.Done;
}

interface Changed {
  /** Ids of the request that are no dead letters. */
  readonly unknown: readonly string[];
}

/** All of the ids are unknown: the error says all there is. */
function isNothing({ unknown }: Changed, done: number): boolean {
  return unknown.length > 0 && done === 0;
}

/** With `--json` the document says it. */
function tellUnknown({ io, json }: CommandContext, { unknown }: Changed): boolean {
  if (unknown.length === 0) return false;
  const ids = unknown.map((run) => oneLine(JSON.stringify(run))).join(', ');
  if (!json) {
    io.stderr.write(
      `colibri: expected ids of dead letters, got ${ids}, which are none; \`colibri dead list\` lists them\n`,
    );
  }
  return true;
}

function choiceOf(context: CommandContext, action: Action, runs: readonly string[]): unknown {
  const { args } = context;
  const task = args.text('task');
  const { since, until } = rangeOf(context);
  const byKind = task !== null || since !== null || until !== null;
  const ways = [runs.length > 0, byKind, args.on('all')].filter(Boolean).length;
  if (ways !== 1) {
    const got = ways === 0 ? 'none of them' : `${ways} of these three`;
    throw usage(
      `dead ${action}: expected run ids, or --all, or some of --task, --since and --until, got ${got}`,
    );
  }
  if (runs.length > 0) return { runs };
  if (!byKind) return { all: true };
  return {
    ...(task === null ? {} : { task }),
    ...(since === null ? {} : { since }),
    ...(until === null ? {} : { until }),
  };
}

/** ISO instants, reckoned from now; null where none is given. */
function rangeOf(context: CommandContext): { readonly since: string | null; readonly until: string | null } {
  const since = momentOf(context, 'since');
  const until = momentOf(context, 'until');
  if (since !== null && until !== null && since >= until) {
    throw usage(`--since: expected a time before --until, got ${since} and ${until}`);
  }
  return { since, until };
}

function momentOf({ args, io }: CommandContext, flag: string): string | null {
  const text = args.text(flag);
  if (text === null) return null;
  const atMs = parseMoment(text, io.nowMs());
  if (atMs === null) throw usage(`--${flag}: expected ${MOMENT_FORM}, got ${JSON.stringify(text)}`);
  return new Date(atMs).toISOString();
}
