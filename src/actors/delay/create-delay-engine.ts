import { assertNever } from '../kernel/errors.ts';
import type { DelayEngine, DelayEngineName, DelayOptions } from './delay-engine.ts';
import { HeapDelayEngine } from './heap-delay-engine.ts';
import { PollDelayEngine } from './poll-delay-engine.ts';
import { TimersDelayEngine } from './timers-delay-engine.ts';
import { WheelDelayEngine } from './wheel-delay-engine.ts';

export function createDelayEngine<Item>(
  name: DelayEngineName,
  options: DelayOptions<Item>,
): DelayEngine<Item> {
  switch (name) {
    case 'heap':
      return new HeapDelayEngine(options);
    case 'wheel':
      return new WheelDelayEngine(options);
    case 'timers':
      return new TimersDelayEngine(options);
    case 'poll':
      return new PollDelayEngine(options);
    default:
      return assertNever(name, 'delay engine');
  }
}
