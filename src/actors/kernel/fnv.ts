/**
 * FNV-1a over UTF-16 code units, 32 bits with a sign (G. Fowler, L. C. Noll, P. Vo, *The FNV non-cryptographic hash
 * algorithm*). The same at every start: tasks have their places within a splay by it. `offset`: one that is not, where
 * nobody is to choose texts that share a hash.
 */
export function fnv1a(text: string, offset = 0x811c9dc5): number {
  let hash = offset;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}
