/**
 * The launcher is the first program of the process and replaces itself by the runtime: it leaves in the environment
 * when that was, so that `ready_ms` can count from there.
 */

/** Seconds since boot, as in the first field of /proc/uptime (proc(5)). */
const VARIABLE = 'COLIBRI_STARTED';
/** More cannot be the start of one program by another: the value is not for this process. */
const MOST_MS = 10_000;

export interface LaunchClocks {
  readonly uptimeSeconds: number;
  /** Since the start of the runtime. */
  readonly monoMs: number;
}

/**
 * What passed between the start of the launcher and that of the runtime, ms, in the steps of 10 ms in which the system
 * counts its uptime; 0 where there was no launcher. Takes the variable away: nobody else is to find it.
 */
export function takeLaunchMs(env: Record<string, string | undefined>, clocks: LaunchClocks): number {
  const started = Number(env[VARIABLE] || Number.NaN);
  delete env[VARIABLE];
  const passedMs = clocks.uptimeSeconds * 1000 - clocks.monoMs - started * 1000;
  return passedMs > 0 && passedMs < MOST_MS ? Math.round(passedMs) : 0;
}
