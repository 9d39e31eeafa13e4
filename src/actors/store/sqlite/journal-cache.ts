/** Of pages of the journal that SQLite holds in memory; a file of its own, for main counts it and does not load SQLite. */
export const JOURNAL_CACHE_BYTES = 2 ** 20;
