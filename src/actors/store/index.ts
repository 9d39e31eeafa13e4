export { MemoryStore } from './memory-store.ts';
export { JOURNAL_CACHE_BYTES } from './sqlite/journal-cache.ts';
export { SqliteStore, type SqliteStoreOptions } from './sqlite/sqlite-store.ts';
export {
  Appended,
  type Retention,
  type Store,
  type StoreAbilities,
  StoreTrouble,
  type StoreUsage,
} from './store.ts';
export { storeActor } from './store-actor.ts';
