export { createDelayEngine } from './create-delay-engine.ts';
export { type DelayEngine, DelayEngineName, type DelayOptions, TIMER_CAP_MS } from './delay-engine.ts';
export { EntrySlots, type TimerHandle } from './entry-slots.ts';
export { HeapDelayEngine } from './heap-delay-engine.ts';
export { POLL_MS } from './poll-delay-engine.ts';
export { TimerHeap } from './timer-heap.ts';
export type { WallWatch } from './wall-watch.ts';
export { WheelDelayEngine } from './wheel-delay-engine.ts';
