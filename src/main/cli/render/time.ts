/** Times and amounts for people. */

/** `in 5s`, `3m ago`: one unit, rounded down, so that it never claims more than has passed. */
export function relativeTime(iso: string | null, nowMs: number): string {
  if (iso === null) return '-';
  const difference = Date.parse(iso) - nowMs;
  const text = spanText(Math.abs(difference));
  if (text === '0s') return 'now';
  return difference > 0 ? `in ${text}` : `${text} ago`;
}

/** `12s`, `3m`, `5h`, `2d`. */
export function spanText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** `0.4 ms`, `12 ms`, `3.2 s`, `4m 05s`. */
export function durationText(ms: number | null): string {
  if (ms === null) return '-';
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return `${minutes}m ${String(Math.floor((ms % 60_000) / 1000)).padStart(2, '0')}s`;
}

/** `3d 4h`, `2h 05m`, `4m 10s`, `12s`. */
export function uptimeText(seconds: number): string {
  const two = (n: number): string => String(n).padStart(2, '0');
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${two(seconds % 60)}s`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h ${two(Math.floor((seconds % 3600) / 60))}m`;
  return `${Math.floor(seconds / 86_400)}d ${Math.floor((seconds % 86_400) / 3600)}h`;
}

/** `812 bytes`, `24 kB`, `3.5 MB`. */
export function byteText(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  return bytes < 1_048_576 ? `${Math.round(bytes / 1024)} kB` : megabytes(bytes);
}

/** Mebibytes with one digit. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MB`;
}
