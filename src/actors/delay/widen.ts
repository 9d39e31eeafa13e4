/** Typed arrays that grow: to powers of two, so that growing costs the same for each entry. */

export function capacityFor(count: number): number {
  return 2 ** Math.ceil(Math.log2(count));
}

/** `to` with what `from` holds at its beginning. */
export function widen<A extends Float64Array | Int32Array | Int16Array | Uint32Array>(from: A, to: A): A {
  to.set(from);
  return to;
}
