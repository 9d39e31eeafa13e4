/**
 * Run ids. A run is one occurrence of a task, and its id says which: `task@instant` for a scheduled one,
 * `task@instant.n` for a trigger (n counts the triggers of this daemon), `task@fingerprint` for a file, and
 * `…~n` for the nth replay. The same occurrence always has the same id, so it cannot run twice by mistake.
 */

/** Id of a scheduled occurrence. */
export function occurrenceId(task: string, instantMs: number): string {
  return `${task}@${instantText(instantMs)}`;
}

/** Makes ids of triggers: unique in this daemon. The text of the last instant is kept, for bursts. */
export function triggerIdMaker(): (task: string, nowMs: number) => string {
  let lastMs = Number.NaN;
  let lastText = '';
  let count = 0;
  return (task, nowMs) => {
    if (nowMs !== lastMs) {
      lastMs = nowMs;
      lastText = instantText(nowMs);
    }
    return `${task}@${lastText}.${(++count).toString(36)}`;
  };
}

/** Id of the next replay of a run. */
export function replayIdOf(run: string): string {
  const match = /~(\d+)$/.exec(run);
  if (match === null) return `${run}~1`;
  return `${run.slice(0, match.index)}~${Number(match[1]) + 1}`;
}

/** ISO 8601 in UTC, without `.000`. */
function instantText(ms: number): string {
  const text = new Date(ms).toISOString();
  return text.endsWith('.000Z') ? `${text.slice(0, -5)}Z` : text;
}
