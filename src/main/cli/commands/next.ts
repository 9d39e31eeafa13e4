import { ColibriError, didYouMean } from '../../../actors/kernel/index.ts';
import { usage } from '../args.ts';
import type { Command } from '../command.ts';
import { ExitCode } from '../exit-codes.ts';
import { endText, type NextDocument, nextList } from '../render/next.ts';

const MOST = 1000;
const DEFAULT_COUNT = 5;

export const nextCommand: Command = {
  name: 'next',
  summary: 'show when a task or a flow runs next by its schedule',
  usage: 'TASK [-n N] [--from T]',
  about:
    'Computed from the config, without a daemon: local time in the zone of the task, the instant in UTC, and how far away ' +
    'it is. A time that the clocks skip is marked as shifted. Where there are fewer than were asked for, the reason is said: ' +
    'stop_at, excluded dates, or a time that is skipped whenever it comes; in a pipe on the standard error.',
  flags: [
    { name: 'count', short: 'n', value: 'N', summary: 'so many (default 5, at most 1000)', range: [1, MOST] },
    { name: 'from', value: 'T', summary: 'after this instant, such as 2026-12-24T18:00:00Z (default: now)' },
  ],
  positionals: { name: 'TASK', min: 1, max: 1 },
  examples: [
    ['colibri next backup', 'the next five'],
    ['colibri next backup -n 20 --from 2027-03-27T00:00:00Z', 'around a change of the clocks'],
  ],
  async run(context) {
    const { args, deps, io, paint } = context;
    const name = args.positionals[0]!;
    const { config } = await deps.loadConfig(await context.configFile());
    const all = [...config.tasks, ...config.flows];
    const task = all.find((one) => one.name === name);
    if (task === undefined) {
      const names = all.map((one) => one.name);
      throw new ColibriError(
        'no-such-task',
        `expected the name of a task in the config, got ${JSON.stringify(name)}${didYouMean(name, names)}`,
      );
    }
    const from = args.text('from');
    const preview = await deps.previewOf(task, {
      from,
      nowMs: io.nowMs(),
      count: Number(args.text('count') ?? DEFAULT_COUNT),
    });
    if (preview === null) {
      throw usage(`--from: expected an instant with its zone such as 2026-12-24T18:00:00Z, got ${from}`);
    }
    const { schedule } = task;
    const timeZone = schedule?.kind === 'cron' ? schedule.timeZone : schedule?.bounds?.timeZone;
    const document: NextDocument = {
      task: name,
      schedule: preview.schedule,
      time_zone: timeZone ?? null,
      start_at: isoOrNull(schedule?.bounds?.startAtMs),
      stop_at: isoOrNull(schedule?.bounds?.stopAtMs),
      exclude: (schedule?.bounds?.exclude ?? []).map(({ firstDay, lastDay }) =>
        firstDay === lastDay ? dateText(firstDay) : `${dateText(firstDay)}..${dateText(lastDay)}`,
      ),
      splay_seconds: task.splayMs / 1000,
      occurrences: preview.occurrences.map(({ atMs, ...rest }) => ({
        at: new Date(atMs).toISOString(),
        ...rest,
      })),
      end: preview.end,
    };
    context.show(document, (next) =>
      nextList(next, { isTTY: io.isTTY, columns: io.columns, nowMs: io.nowMs(), paint }),
    );
    const end = endText(document);
    if (end !== null && !context.json && !io.isTTY) io.stderr.write(`${name}: ${end}\n`);
    return ExitCode.Done;
  },
};

function isoOrNull(atMs: number | null | undefined): string | null {
  return atMs === null || atMs === undefined ? null : new Date(atMs).toISOString();
}

/** `day`: since 1970. */
function dateText(day: number): string {
  return new Date(day * 86_400_000).toISOString().slice(0, 10);
}
