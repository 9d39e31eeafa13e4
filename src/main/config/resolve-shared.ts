/** What tasks inherit from `defaults:`: values in milliseconds, each from the nearest place that says it. */
import type { SchemaPath } from '../../actors/kernel/check-schema.ts';
import type { BackoffPolicy } from '../../actors/runs/backoff.ts';
import { DEFAULT_DST, type DstPolicy, type MisfirePolicy, OverlapPolicy, type TaskSpec } from './config.ts';
import type { RawShared } from './raw-config.ts';
import type { ResolveScope } from './resolve-scope.ts';

export interface Shared
  extends Pick<
    TaskSpec,
    'misfire' | 'overlap' | 'splayMs' | 'timeoutMs' | 'maxRetry' | 'backoff' | 'onInterrupted' | 'priority'
  > {
  readonly timeZone: string | null;
  readonly dst: DstPolicy;
}

const DEFAULT_JITTER_MS = 1000;

export const PRODUCT_DEFAULTS: Shared = {
  timeZone: null,
  dst: DEFAULT_DST,
  misfire: { policy: 'run-once', graceMs: null, max: 100 },
  overlap: OverlapPolicy.Skip,
  splayMs: 0,
  timeoutMs: 30_000,
  maxRetry: 5,
  backoff: { kind: 'scaled', baseMs: 1000, capMs: 60_000 },
  onInterrupted: 'rerun',
  priority: 0,
};

/** `raw` over `base`. Objects that say nothing new are shared with `base`: thousands of tasks inherit them. */
export function resolveShared(raw: RawShared, base: Shared, path: SchemaPath, scope: ResolveScope): Shared {
  return {
    timeZone: resolveTimeZone(raw.time_zone, base.timeZone, path, scope),
    dst: raw.dst === undefined ? base.dst : { ...base.dst, ...raw.dst },
    misfire: resolveMisfire(raw, base.misfire),
    overlap: raw.overlap ?? base.overlap,
    splayMs: raw.splay_seconds === undefined ? base.splayMs : toMs(raw.splay_seconds),
    timeoutMs: raw.timeout_seconds === undefined ? base.timeoutMs : Math.max(1, toMs(raw.timeout_seconds)),
    maxRetry: raw.max_retry ?? base.maxRetry,
    backoff: resolveBackoff(raw, base.backoff, path, scope),
    onInterrupted: raw.on_interrupted ?? base.onInterrupted,
    priority: raw.priority ?? base.priority,
  };
}

/** Seconds, which may be fractional, as whole milliseconds. */
export function toMs(seconds: number): number {
  return Math.round(seconds * 1000);
}

function resolveTimeZone(
  zone: string | undefined,
  inherited: string | null,
  path: SchemaPath,
  scope: ResolveScope,
): string | null {
  if (zone === undefined) return inherited;
  if (scope.isTimeZone(zone)) return zone;
  const message = `expected the IANA name of a time zone such as Europe/Berlin, got ${JSON.stringify(zone)}`;
  scope.problems.add([...path, 'time_zone'], message);
  return inherited;
}

function resolveMisfire(raw: RawShared, base: MisfirePolicy): MisfirePolicy {
  if (raw.misfire === undefined) return base;
  const { policy = base.policy, grace_seconds: grace, max = base.max } = raw.misfire;
  return { policy, graceMs: grace === undefined ? base.graceMs : grace === null ? null : toMs(grace), max };
}

function resolveBackoff(
  raw: RawShared,
  base: BackoffPolicy,
  path: SchemaPath,
  scope: ResolveScope,
): BackoffPolicy {
  const written = raw.backoff;
  if (written === undefined) return base;
  const place = [...path, 'backoff'];
  const kind = written.kind ?? base.kind;
  const baseMs = written.base_seconds === undefined ? base.baseMs : toMs(written.base_seconds);
  const capMs = written.cap_seconds === undefined ? base.capMs : toMs(written.cap_seconds);
  if (capMs < baseMs) {
    const key = written.cap_seconds === undefined ? 'base_seconds' : 'cap_seconds';
    const message = `expected cap_seconds to be at least base_seconds (${baseMs / 1000}), got ${capMs / 1000}`;
    scope.problems.add([...place, key], message);
  }
  if (kind === 'scaled') {
    if (written.jitter_seconds !== undefined) {
      const message =
        'expected jitter_seconds with kind: additive only, got it with scaled; remove it or say kind: additive';
      scope.problems.add([...place, 'jitter_seconds'], message, 'key');
    }
    return { kind, baseMs, capMs };
  }
  const inherited = base.kind === 'additive' ? base.jitterMs : DEFAULT_JITTER_MS;
  return {
    kind,
    baseMs,
    capMs,
    jitterMs: written.jitter_seconds === undefined ? inherited : toMs(written.jitter_seconds),
  };
}
