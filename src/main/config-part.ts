/**
 * All that only loading a config needs: YAML, cron expressions, schemas. Whoever imports it lets go of it when the
 * config is there: in a build it is a part of its own, and its memory is given back.
 */
import { availableParallelism } from 'node:os';
import { parseInstant } from '../actors/kernel/parse-time.ts';
import type { SizeView } from '../actors/views/size-view.ts';
import { builtInHandlers } from '../workers/index.ts';
import { type Config, type LoadedConfig, loadConfig, type ScheduledSpec } from './config/index.ts';
import { ledger } from './memory/index.ts';
import {
  type EndCause,
  endReason,
  type PreviewedOccurrence,
  previewOf,
  scheduleText,
  splayOf,
} from './schedule/index.ts';
import { parseCron } from './schedule/parse/index.ts';
import { scheduleWarnings } from './schedule/warnings/index.ts';

export { findConfigFile, stateDirOf } from './config/index.ts';

export interface ConfigSource {
  /** As the user named it. */
  readonly file: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly nowMs: number;
  /** Warn of what is to come by the schedules too: it has to be computed. */
  readonly lookAhead?: boolean;
}

/** With this machine's cores and the handlers of this version. Rejects with `config-invalid`. */
export function loadConfigFile({ file, env, nowMs, lookAhead = false }: ConfigSource): Promise<LoadedConfig> {
  const cores = availableParallelism();
  const warnOfSchedules = (tasks: readonly ScheduledSpec[]) => scheduleWarnings(tasks, { nowMs, lookAhead });
  return loadConfig({ file, env, cores, builtIns: builtInHandlers, parseCron, nowMs, warnOfSchedules });
}

export interface PreviewQuestion {
  /** An instant as a user writes it; null: now. */
  readonly from: string | null;
  readonly nowMs: number;
  readonly count: number;
}

export interface TaskPreview {
  /** As a person wrote it; null: the task runs on trigger only. */
  readonly schedule: string | null;
  readonly occurrences: readonly PreviewedOccurrence[];
  /** Why there are fewer than were asked for; null: there are not, or there is no schedule. */
  readonly end: { readonly cause: EndCause; readonly reason: string } | null;
}

/** When a task, or a flow, is due next. Null where `from` is no instant. */
export function previewTask(
  { name, schedule, splayMs }: ScheduledSpec,
  { from, nowMs, count }: PreviewQuestion,
): TaskPreview | null {
  const parsed = from === null ? { atMs: nowMs } : parseInstant(from);
  if ('problem' in parsed) return null;
  if (schedule === null) return { schedule: null, occurrences: [], end: null };
  const { occurrences, end } = previewOf({
    schedule,
    splayMs: splayOf(name, splayMs),
    afterMs: parsed.atMs,
    count,
  });
  return {
    schedule: scheduleText(schedule),
    occurrences,
    end: end === null ? null : { cause: end.cause, reason: endReason(schedule, end) },
  };
}

/** What the memory ledger says of a config, without a daemon. */
export function sizeOf(config: Config): SizeView {
  return ledger(config, availableParallelism(), null);
}
