/**
 * "did you mean …?": the known name nearest to one that a user wrote, or none when nothing is near. Bounded:
 * names longer than 128 code units are not compared, so the cost is at most 128 × 128 steps a candidate.
 */
const LONGEST_NAME = 128;

/**
 * The nearest of `candidates`: at most one edit for names of up to 4 letters, two up to 8, else three. A name
 * that is the start of a candidate, or the other way round, at a `_` is near too (`timeout`, `timeout_seconds`).
 */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length > LONGEST_NAME) return undefined;
  const wanted = fold(name);
  let best: string | undefined;
  let bestEdits = wanted.length <= 4 ? 2 : wanted.length <= 8 ? 3 : 4;
  let sharedStart: string | undefined;
  for (const candidate of candidates) {
    if (candidate === name || candidate.length > LONGEST_NAME) continue;
    const folded = fold(candidate);
    if (folded.startsWith(`${wanted}_`) || wanted.startsWith(`${folded}_`)) sharedStart ??= candidate;
    if (Math.abs(folded.length - wanted.length) >= bestEdits) continue;
    const edits = editDistance(wanted, folded);
    // Two names that share no letter are never meant for each other, however short they are.
    if (edits < bestEdits && edits < Math.max(wanted.length, folded.length)) {
      best = candidate;
      bestEdits = edits;
    }
  }
  return best ?? sharedStart;
}

/** `; did you mean "…"?` or nothing: the tail of a message. */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  const nearest = nearestName(name, candidates);
  return nearest === undefined ? '' : `; did you mean ${JSON.stringify(nearest)}?`;
}

/**
 * Damerau-Levenshtein distance in its optimal string alignment form: insertions, deletions, substitutions and
 * swaps of two neighbours, each costing 1.
 */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      let edits = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        edits = Math.min(edits, beforeLast[j - 2]! + 1);
      }
      row.push(edits);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}

/** camelCase, kebab-case and capitals are spellings of the same name. */
function fold(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase();
}
