/**
 * Cron expressions: parsed by cron-parser, whose answers are checked here before anyone relies on them. Every
 * next instant lies after the one it was asked from; the search is bounded.
 */
import { CronExpressionParser } from 'cron-parser';
import { ColibriError } from '../../actors/kernel/index.ts';

/** The instants of one schedule. */
export interface Occurrences {
  /** The first instant after `afterMs`; null: there is none. */
  next(afterMs: number): number | null;
}

/** Answers of the library that lie at or before the instant asked from are stepped over at most so often. */
const MAX_STEPS = 1000;

/**
 * Parses `expression` (5 or 6 fields, or @hourly and kin) for a time zone (null: the machine's).
 * Throws `config-invalid` with the reason, also for a date that never comes, such as 30 February.
 */
export function parseCron(expression: string, timeZone: string | null): Occurrences {
  const text = expression.trim();
  const fields = text.split(/\s+/);
  if (!text.startsWith('@') && fields.length !== 5 && fields.length !== 6) {
    throw invalid(expression, `expected 5 fields, or 6 with seconds first, got ${fields.length}`);
  }
  const parse = (afterMs: number) =>
    CronExpressionParser.parse(text, {
      currentDate: new Date(afterMs),
      ...(timeZone === null ? {} : { tz: timeZone }),
    });
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(0);
    parsed.next();
  } catch (error) {
    throw invalid(expression, error instanceof Error ? error.message : String(error));
  }
  return {
    next(afterMs) {
      try {
        parsed.reset(new Date(afterMs));
        for (let step = 0; step < MAX_STEPS; step++) {
          const found = parsed.next().getTime();
          if (found > afterMs) return found;
        }
        return null;
      } catch {
        return null;
      }
    },
  };
}

/** What is wrong with an expression; null: nothing. */
export function cronProblem(expression: string, timeZone: string | null): string | null {
  try {
    parseCron(expression, timeZone);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function invalid(expression: string, reason: string): ColibriError {
  return new ColibriError(
    'config-invalid',
    `expected a cron expression, got ${JSON.stringify(expression)}: ${reason}`,
  );
}
