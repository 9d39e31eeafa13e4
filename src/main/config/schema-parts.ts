/** Pieces that several sections of the config's schema share. */
import type { JsonSchema } from '../../actors/kernel/json-schema.ts';

/** The longest delay that the runtime's timers take: 2^31 − 1 ms, as whole seconds. */
export const MAX_TIMER_SECONDS = 2_147_483;

/** Ten years: longer waits are slips of the pen. */
export const MAX_SECONDS = 315_360_000;

/** Of runs at once. */
export const MAX_AT_ONCE = 1_000_000;

export const NAME_PATTERN = '^[a-z0-9][a-z0-9_-]{0,99}$';
export const NAME_MEANING =
  'a name of a-z, 0-9, _ and -, that starts with a letter or digit and has at most 100 characters';

/** An object whose keys are all listed. An object section is there even when it is not written. */
export function section(
  description: string,
  properties: Readonly<Record<string, JsonSchema>>,
  more: { readonly optional?: boolean; readonly required?: readonly string[] } = {},
): JsonSchema {
  return {
    type: 'object',
    description,
    properties,
    additionalProperties: false,
    ...(more.optional === true ? {} : { default: {} }),
    ...(more.required === undefined ? {} : { required: more.required }),
  };
}

/** A time in seconds, fractions allowed, that ends up in a timer. */
export function seconds(description: string, value?: number, maximum = MAX_TIMER_SECONDS): JsonSchema {
  return {
    type: 'number',
    minimum: 0,
    maximum,
    description,
    ...(value === undefined ? {} : { default: value }),
  };
}

export function count(
  description: string,
  value?: number,
  bounds: { min?: number; max?: number } = {},
): JsonSchema {
  return {
    type: 'integer',
    minimum: bounds.min ?? 1,
    ...(bounds.max === undefined ? {} : { maximum: bounds.max }),
    description,
    ...(value === undefined ? {} : { default: value }),
  };
}

export function oneOf(description: string, members: readonly unknown[], value?: unknown): JsonSchema {
  return { enum: members, description, ...(value === undefined ? {} : { default: value }) };
}

export function text(description: string, value?: string): JsonSchema {
  return {
    type: 'string',
    minLength: 1,
    maxLength: 4096,
    description,
    ...(value === undefined ? {} : { default: value }),
  };
}
