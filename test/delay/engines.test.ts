import { delayConformance, POLL_MS } from './conformance.ts';

delayConformance({ name: 'heap', lateMs: 0, ordered: true });
delayConformance({ name: 'wheel', lateMs: 0, ordered: true });
delayConformance({ name: 'timers', lateMs: 0, ordered: false });
delayConformance({ name: 'poll', lateMs: POLL_MS, ordered: true });
