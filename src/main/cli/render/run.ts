/** One run with all that is known of it. */
import type { RunDocument, ShownRunDocument } from '../../../actors/control/index.ts';
import { type Paint, stateColour } from './paint.ts';
import { oneLine, printableLines } from './text.ts';
import { durationText } from './time.ts';

export interface RunOptions {
  readonly paint: Paint;
  /** On a terminal texts of several lines stand as such; in a pipe each is one line. */
  readonly isTTY: boolean;
}

export function runDetails(run: ShownRunDocument, options: RunOptions): string {
  const { paint, isTTY } = options;
  const lines: [string, string][] = [
    ['run', oneLine(run.run)],
    ['task', oneLine(run.task)],
    ['state', paint.paint(stateColour(run.state), run.state)],
  ];
  const note = STATE_NOTES[run.state];
  if (note !== undefined) lines.push(['note', note]);
  lines.push(['origin', run.origin], ['created', run.created_at]);
  if (run.flow !== null) lines.push(['flow', oneLine(run.flow)]);
  if (run.again_of !== null) lines.push(['again of', oneLine(run.again_of)]);
  if (run.started_at !== null) lines.push(['started', run.started_at]);
  if (run.ended_at !== null) lines.push(['ended', run.ended_at]);
  if (run.due_at !== null) lines.push(['due', run.due_at]);
  if (run.duration_ms !== null) lines.push(['took', durationText(run.duration_ms)]);
  lines.push(['attempt', attemptText(run)]);
  if (run.progress !== null) lines.push(['progress', progressText(run.progress)]);
  lines.push(['input', oneLine(run.input)]);
  if (run.result_forgotten) lines.push(['result', FORGOTTEN]);
  else if (run.state === 'success') lines.push(['result', resultText(run.result, isTTY)]);
  // Of a run that goes on, the attempts tell which of them it was.
  if (run.ended_at !== null) lines.push(...errorLines(run.error, isTTY));
  if (run.step !== null) lines.push(...stepLines(run.step, run));
  lines.push(...run.commands.map(commandLine));
  const text = lines.map(([key, value]) => `${paint.paint('dim', key.padEnd(9))} ${value}\n`).join('');
  return saysMore(run) ? text + attemptLines(run, options) : text;
}

/** `hash-inbox@… succeeded in 12 ms`: what a waiting trigger prints. */
export function endedLine(run: RunDocument, { paint, isTTY }: RunOptions): string {
  const state = paint.paint(stateColour(run.state), run.state);
  const took = run.duration_ms === null ? '' : ` in ${durationText(run.duration_ms)}`;
  const tries = run.attempt > 1 ? ` (attempt ${run.attempt})` : '';
  const head = `${oneLine(run.run)} ${state}${took}${tries}\n`;
  if (run.error !== null) return `${head}${lineText(errorText(run.error), isTTY)}\n`;
  return run.result === null ? head : `${head}${resultText(run.result, isTTY)}\n`;
}

/** `code: message (cause: …)`; a cause that the message repeats is left out. */
export function errorText(error: NonNullable<RunDocument['error']>): string {
  const causes: string[] = [];
  for (let one = error.cause ?? null; one !== null; one = one.cause ?? null) {
    // The message names the code of a system error in its own words.
    const said = /^E[A-Z0-9]+(?=:)/.exec(one.message)?.[0] ?? one.message;
    if (!error.message.includes(said)) causes.push(` (cause: ${one.message})`);
  }
  return `${error.code}: ${error.message}${causes.join('')}`;
}

/** The error of a run in a list: of one that goes on, with the attempt that it is of. */
export function lastErrorText({ error, attempts, ended_at: endedAt }: RunDocument): string | null {
  if (error === null) return null;
  const of = endedAt === null ? attempts.findLast((attempt) => attempt.error !== null) : undefined;
  return of === undefined ? errorText(error) : `attempt ${of.attempt}: ${errorText(error)}`;
}

const FORGOTTEN = 'forgotten: it was kept as long as retention says';

/** What a state that is met after a start means, and what to do. */
const STATE_NOTES: Readonly<Record<string, string>> = {
  interrupted:
    'the thread or the daemon under it ended; on_interrupted of its task says what follows: rerun, which is the default, runs it again by itself',
  orphaned:
    'its task is not in the config: put it back and restart the daemon to run it, or end it with `colibri cancel RUN`',
};

const DEEDS: Readonly<Record<string, string>> = {
  trigger: 'triggered',
  cancel: 'cancelled',
  'dead replay': 'replayed',
  'dead purge': 'purged',
};

const INDENT = '    ';

/** What a command wrote, line by line below the rest of its result. */
function resultText(result: unknown, isTTY: boolean): string {
  if (!isTTY || typeof result !== 'object' || result === null || Array.isArray(result))
    return oneLine(result);
  const rest: Record<string, unknown> = {};
  let streams = '';
  for (const [key, value] of Object.entries(result)) {
    const isStream = (key === 'stdout' || key === 'stderr') && typeof value === 'string';
    if (!isStream) rest[key] = value;
    else if (value !== '') streams += `\n  ${key}${lineText(`\n${value.trimEnd()}`, true)}`;
  }
  return oneLine(rest) + streams;
}

function lineText(text: string, isTTY: boolean): string {
  return isTTY ? printableLines(text).replaceAll('\n', `\n${INDENT}`) : oneLine(text);
}

function errorLines(error: RunDocument['error'], isTTY: boolean): [string, string][] {
  const lines: [string, string][] = [];
  for (let current = error; current !== null; current = current.cause ?? null) {
    const text = lineText(`${current.code}: ${current.message}`, isTTY);
    lines.push([current === error ? 'error' : 'cause', text]);
  }
  return lines;
}

/** Where the step ended otherwise than its run: what it gave was not as expected, or came too late. */
function stepLines(
  { state, reason, detail }: NonNullable<ShownRunDocument['step']>,
  run: RunDocument,
): [string, string][] {
  if (reason === null || state === run.state || run.ended_at === null) return [];
  return [['step', `${state}, ${reason}${detail === null ? '' : `: ${oneLine(detail)}`}`]];
}

/** False where the history has nothing that the lines above do not say. */
function saysMore({ attempts, attempt, ended_at: endedAt }: RunDocument): boolean {
  const [first] = attempts;
  return (
    attempts.length > 1 ||
    (first !== undefined && (attempt > 1 || (endedAt === null && first.error !== null)))
  );
}

function attemptText({ attempt, attempts }: RunDocument): string {
  const interrupted = attempts.filter(({ state }) => state === 'interrupted').length;
  return interrupted === 0 ? String(attempt) : `${attempt} (${interrupted} interrupted)`;
}

/** `1. start  time taken  state  error`; of many attempts only the last are kept. */
function attemptLines({ attempts }: RunDocument, { paint, isTTY }: RunOptions): string {
  const forgotten = (attempts[0]?.attempt ?? 1) - 1;
  const head =
    forgotten === 0 ? '' : `  ${forgotten} earlier ${forgotten === 1 ? 'one is' : 'ones are'} not kept\n`;
  const lines = attempts.map(({ attempt, started_at: started, duration_ms: took, state, error }) => {
    const time = took === null ? '' : ` ${durationText(took)}`;
    const why = error === null ? '' : ` ${lineText(errorText(error), isTTY)}`;
    return `  ${attempt}. ${started}${time} ${paint.paint(stateColour(state), state)}${why}\n`;
  });
  return `${paint.paint('dim', 'attempts')}\n${head}${lines.join('')}`;
}

function commandLine({ action, user, at }: ShownRunDocument['commands'][number]): [string, string] {
  return [DEEDS[action] ?? action, `${at} by ${oneLine(user)}`];
}

function progressText(progress: NonNullable<RunDocument['progress']>): string {
  const percent = `${Math.round(progress.fraction * 100)} %`;
  return progress.note === null ? percent : `${percent} ${oneLine(progress.note)}`;
}
