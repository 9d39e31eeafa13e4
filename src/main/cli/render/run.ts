/** One run with all that is known of it. */
import type { RunDocument } from '../../../actors/control/index.ts';
import { type Paint, stateColour } from './paint.ts';
import { oneLine } from './text.ts';
import { durationText } from './time.ts';

export function runDetails(run: RunDocument, paint: Paint): string {
  const lines: [string, string][] = [
    ['run', oneLine(run.run)],
    ['task', oneLine(run.task)],
    ['state', paint.paint(stateColour(run.state), run.state)],
    ['origin', run.origin],
    ['created', run.created_at],
  ];
  if (run.started_at !== null) lines.push(['started', run.started_at]);
  if (run.ended_at !== null) lines.push(['ended', run.ended_at]);
  if (run.due_at !== null) lines.push(['due', run.due_at]);
  if (run.duration_ms !== null) lines.push(['took', durationText(run.duration_ms)]);
  lines.push(['attempt', String(run.attempt)]);
  if (run.progress !== null) lines.push(['progress', progressText(run.progress)]);
  lines.push(['input', oneLine(run.input)]);
  if (run.state === 'success') lines.push(['result', oneLine(run.result)]);
  lines.push(...errorLines(run.error));
  const text = lines.map(([key, value]) => `${paint.paint('dim', key.padEnd(9))} ${value}\n`).join('');
  return run.attempts.length < 2 ? text : text + attemptLines(run, paint);
}

/** `hash-inbox@… succeeded in 12 ms`: what a waiting trigger prints. */
export function endedLine(run: RunDocument, paint: Paint): string {
  const state = paint.paint(stateColour(run.state), run.state);
  const took = run.duration_ms === null ? '' : ` in ${durationText(run.duration_ms)}`;
  const tries = run.attempt > 1 ? ` (attempt ${run.attempt})` : '';
  const head = `${oneLine(run.run)} ${state}${took}${tries}\n`;
  if (run.error !== null) return `${head}${oneLine(`${run.error.code}: ${run.error.message}`)}\n`;
  return run.result === null ? head : `${head}${oneLine(run.result)}\n`;
}

function errorLines(error: RunDocument['error']): [string, string][] {
  const lines: [string, string][] = [];
  for (let current = error; current !== null; current = current.cause ?? null) {
    lines.push([current === error ? 'error' : 'cause', oneLine(`${current.code}: ${current.message}`)]);
  }
  return lines;
}

function attemptLines(run: RunDocument, paint: Paint): string {
  const lines = run.attempts.map((attempt) => {
    const error =
      attempt.error === null ? '' : ` ${oneLine(`${attempt.error.code}: ${attempt.error.message}`)}`;
    const state = paint.paint(stateColour(attempt.state), attempt.state);
    return `  ${attempt.attempt}. ${attempt.started_at} ${state}${error}\n`;
  });
  return `${paint.paint('dim', 'attempts')}\n${lines.join('')}`;
}

function progressText(progress: NonNullable<RunDocument['progress']>): string {
  const percent = `${Math.round(progress.fraction * 100)} %`;
  return progress.note === null ? percent : `${percent} ${oneLine(progress.note)}`;
}
