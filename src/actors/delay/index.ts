export { createDelayEngine } from './create-delay-engine.ts';
export { type DelayEngine, DelayEngineName, type DelayOptions, TIMER_CAP_MS } from './delay-engine.ts';
export { HeapDelayEngine } from './heap-delay-engine.ts';
export { POLL_MS } from './poll-delay-engine.ts';
export { type TimerHandle, TimerHeap } from './timer-heap.ts';
