/** How late things came, and what the process took for it. */
export interface Lateness {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
  /** How many came before their time. */
  readonly early: number;
}

export interface LateFigures extends Lateness {
  /** Of a core. */
  readonly cpuShare: number;
  /** Of processor time. */
  readonly perCpuSecond: number;
  /** How often a thread of the process went to sleep, a second. */
  readonly sleepsPerSecond: number;
}

/** `lateMs`: of each by how much, negative where it was early. Sorts it. */
export function latenessOf(lateMs: Float64Array): Lateness {
  lateMs.sort();
  const at = (quantile: number) =>
    lateMs[Math.min(lateMs.length - 1, Math.floor(lateMs.length * quantile))] ?? Number.NaN;
  const onTime = lateMs.findIndex((late) => late >= 0);
  return {
    count: lateMs.length,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    p999Ms: at(0.999),
    maxMs: at(1),
    early: onTime === -1 ? lateMs.length : onTime,
  };
}

/** Counts from now on; what it returns gives the figures of all that came meanwhile, in so many seconds. */
export function meter(): (lateMs: Float64Array, seconds: number) => LateFigures {
  const before = process.resourceUsage();
  return (lateMs, seconds) => {
    const after = process.resourceUsage();
    const cpuSeconds =
      (after.userCPUTime + after.systemCPUTime - before.userCPUTime - before.systemCPUTime) / 1e6;
    return {
      ...latenessOf(lateMs),
      cpuShare: cpuSeconds / seconds,
      perCpuSecond: lateMs.length / cpuSeconds,
      sleepsPerSecond: (after.voluntaryContextSwitches - before.voluntaryContextSwitches) / seconds,
    };
  };
}
