/**
 * What a body costs, estimated without writing it out: the byte bound of a mailbox needs a size for messages
 * that never leave their thread. At most `VISITED` values are looked at; the rest of a long array counts like
 * the part that was seen.
 */

const VISITED = 64;
const SEEN_OF_ARRAY = 8;
const NUMBER_BYTES = 8;
const OVERHEAD_BYTES = 16;

/** Bytes of the envelope around a body, roughly. */
const ENVELOPE_BYTES = 96;

/** Estimated bytes of a message with this body. Never throws for JSON data; cycles are cut by depth. */
export function estimateBytes(body: unknown): number {
  if (body === null || body === undefined) return ENVELOPE_BYTES;
  if (typeof body === 'string') return ENVELOPE_BYTES + body.length;
  if (typeof body !== 'object') return ENVELOPE_BYTES + NUMBER_BYTES;
  return ENVELOPE_BYTES + sizeOf(body, VISITED);
}

function sizeOf(value: object, budget: number): number {
  if (Array.isArray(value)) return sizeOfArray(value, budget);
  if (ArrayBuffer.isView(value)) return value.byteLength;
  let bytes = OVERHEAD_BYTES;
  let left = budget;
  for (const key in value) {
    if (left-- <= 0) break;
    bytes += key.length + sizeOfAny((value as Record<string, unknown>)[key], left >> 1);
  }
  return bytes;
}

function sizeOfArray(values: readonly unknown[], budget: number): number {
  const seen = Math.min(values.length, SEEN_OF_ARRAY, budget);
  if (seen === 0) return OVERHEAD_BYTES + values.length * NUMBER_BYTES;
  let bytes = 0;
  for (let i = 0; i < seen; i++) bytes += sizeOfAny(values[i], budget >> 2);
  return OVERHEAD_BYTES + Math.ceil((bytes * values.length) / seen);
}

function sizeOfAny(value: unknown, budget: number): number {
  if (typeof value === 'string') return value.length;
  if (typeof value === 'object' && value !== null)
    return budget <= 0 ? OVERHEAD_BYTES : sizeOf(value, budget);
  return NUMBER_BYTES;
}
