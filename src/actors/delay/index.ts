export type { DelayEngine } from './delay-engine.ts';
export { HeapDelayEngine, type HeapDelayOptions, TIMER_CAP_MS } from './heap-delay-engine.ts';
export { type TimerHandle, TimerHeap } from './timer-heap.ts';
