/** The built-in handlers of the async pool. */
import type { BuiltInHandler } from '../handler.ts';
import { createCommand } from './command.ts';
import { noop } from './noop.ts';
import { sleep } from './sleep.ts';

export const builtInIoHandlers: readonly BuiltInHandler[] = [createCommand(), noop, sleep];
