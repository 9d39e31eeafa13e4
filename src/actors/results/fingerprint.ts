/**
 * A 64-bit fingerprint of a text, as 16 hex digits: two lanes of 32 bits, each mixed as MurmurHash3 (Austin
 * Appleby, public domain) mixes its blocks and its end, with a seed of its own.
 *
 * Not for secrets. It tells files apart: among a million of them the chance of one collision is about
 * n² / 2^65, or 3 in 10^8. It needs no crypto module, which costs 2 MB on a thread that has none.
 */

/** 16 lower-case hex digits. The same text gives the same digits on every machine and version. */
export function fingerprint64(text: string): string {
  let high = 0x9747b28c;
  let low = 0x3c6ef372;
  for (let index = 0; index < text.length; index += 1) {
    const block = Math.imul(text.charCodeAt(index), 0xcc9e2d51);
    high = mix(high, block);
    low = mix(low, block ^ high);
  }
  high = finish(high ^ text.length);
  low = finish(low ^ high);
  return hex8(high) + hex8(low);
}

function mix(lane: number, block: number): number {
  const turned = Math.imul((block << 15) | (block >>> 17), 0x1b873593);
  const next = lane ^ turned;
  return (Math.imul((next << 13) | (next >>> 19), 5) + 0xe6546b64) | 0;
}

function finish(lane: number): number {
  let value = lane ^ (lane >>> 16);
  value = Math.imul(value, 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}

function hex8(value: number): string {
  return value.toString(16).padStart(8, '0');
}
