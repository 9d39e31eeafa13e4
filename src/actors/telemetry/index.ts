/** The face of telemetry: the actor, and what a composition root may want beside it. */

export type { LineDevice } from './line-writer.ts';
export { LINE_LIMIT } from './logger.ts';
export { METRICS } from './metric-table.ts';
export { type TelemetryOptions, telemetryActor } from './telemetry-actor.ts';
