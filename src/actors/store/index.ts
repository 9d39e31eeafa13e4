export { MemoryStore } from './memory-store.ts';
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
