/**
 * Time zones as rows of spans with one offset each, read from `Temporal`: beside it `Intl.DateTimeFormat` costs
 * over a megabyte. A question to `Temporal` takes some microseconds, so each zone keeps the few spans last used:
 * around now all tasks ask for the same ones.
 */

/** A stretch of time in which the clocks of a zone keep one offset from UTC. */
export interface ZoneSpan {
  /** Begins with this instant; -Infinity: always has been. */
  readonly startMs: number;
  /** Ends before this instant; Infinity: for ever. */
  readonly endMs: number;
  readonly offsetMs: number;
  /** The offsets of the spans beside it; its own where there is none. */
  readonly beforeMs: number;
  readonly afterMs: number;
}

export interface TimeZone {
  /** The span that holds an instant; `atMs` in whole seconds within `MAX_INSTANT_MS` of 1970. */
  spanAt(atMs: number): ZoneSpan;
}

/** The instants that `Date` and `Temporal` know, less a second. */
export const MAX_INSTANT_MS = 8.64e15 - 1000;

/** Now, and the two changes that lie before an instant a year away. */
const KEPT_SPANS = 4;

/** The zones of one scheduler, each opened once. */
export class TimeZones {
  readonly #zones = new Map<string | null, TimeZone>();

  /** `name`: IANA, an offset such as `+02:00`, or null for the zone of the machine. */
  zone(name: string | null): TimeZone {
    let zone = this.#zones.get(name);
    if (zone === undefined) {
      zone = name === null ? machineZone() : openZone(name);
      this.#zones.set(name, zone);
    }
    return zone;
  }
}

function openZone(name: string): TimeZone {
  return name === 'UTC' ? fixedZone(0) : new NamedZone(name);
}

/**
 * TZ may hold what is no name, such as `CET-1` or a path. `Temporal` takes it for UTC then, while `Date` keeps to
 * the one offset that the runtime read from it.
 */
function machineZone(): TimeZone {
  const now = Temporal.Now.zonedDateTimeISO();
  const offsetMs = new Date(now.epochMilliseconds).getTimezoneOffset() * -60_000;
  return toMs(now.offsetNanoseconds) === offsetMs ? openZone(now.timeZoneId) : fixedZone(offsetMs);
}

function fixedZone(offsetMs: number): TimeZone {
  const span: ZoneSpan = {
    startMs: Number.NEGATIVE_INFINITY,
    endMs: Number.POSITIVE_INFINITY,
    offsetMs,
    beforeMs: offsetMs,
    afterMs: offsetMs,
  };
  return { spanAt: () => span };
}

class NamedZone implements TimeZone {
  readonly #name: string;
  readonly #kept: ZoneSpan[] = [];
  #oldest = 0;

  constructor(name: string) {
    this.#name = name;
  }

  spanAt(atMs: number): ZoneSpan {
    for (const span of this.#kept) if (span.startMs <= atMs && atMs < span.endMs) return span;
    const span = readSpan(this.#name, atMs);
    this.#kept[this.#oldest] = span;
    this.#oldest = (this.#oldest + 1) % KEPT_SPANS;
    return span;
  }
}

function readSpan(name: string, atMs: number): ZoneSpan {
  // A millisecond later, because the start of a span belongs to it. Offsets change on whole seconds.
  const at = zoned(name, atMs + 1);
  const start = at.getTimeZoneTransition('previous');
  const end = at.getTimeZoneTransition('next');
  const offsetMs = toMs(at.offsetNanoseconds);
  return {
    startMs: start?.epochMilliseconds ?? Number.NEGATIVE_INFINITY,
    endMs: end?.epochMilliseconds ?? Number.POSITIVE_INFINITY,
    offsetMs,
    beforeMs: start === null ? offsetMs : toMs(zoned(name, start.epochMilliseconds - 1).offsetNanoseconds),
    afterMs: end === null ? offsetMs : toMs(end.offsetNanoseconds),
  };
}

function zoned(name: string, atMs: number): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(atMs).toZonedDateTimeISO(name);
}

function toMs(nanoseconds: number): number {
  return nanoseconds / 1e6;
}
