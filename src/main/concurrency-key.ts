/** The key of a run, by which its task bounds how many are on slots at once. */
import { type FlowField, fillText, type TextPart } from '../actors/flow/index.ts';

/** Longest key that stands for itself, UTF-16 code units; of a longer one its SHA-256 does. */
export const MAX_KEY_LENGTH = 200;

const NO_FLOW: Readonly<Record<FlowField, string>> = { name: '', run: '', due: '' };

/** Runs whose input lacks what the key names have one key together, the empty one. */
export function keyReader(parts: readonly TextPart[]): (input: string) => string {
  return (input) => {
    const key = keyOf(parts, input);
    if (key.length <= MAX_KEY_LENGTH) return key;
    return process.getBuiltinModule('node:crypto').createHash('sha256').update(key).digest('base64');
  };
}

function keyOf(parts: readonly TextPart[], input: string): string {
  try {
    const payload: unknown = JSON.parse(input);
    return fillText(parts, { payload, flow: NO_FLOW, resultOf: () => undefined });
  } catch {
    return '';
  }
}
