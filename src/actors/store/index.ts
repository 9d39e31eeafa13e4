export { MemoryStore } from './memory-store.ts';
export type { Retention, Store, StoreAbilities, StoreUsage } from './store.ts';
export { storeActor } from './store-actor.ts';
