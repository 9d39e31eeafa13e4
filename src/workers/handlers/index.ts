/** The handlers that come with the daemon, for one thread. */
import type { BuiltInHandler } from '../handler.ts';
import { createFileHandlers } from './file-handlers.ts';
import { builtInIoHandlers } from './io-handlers.ts';

export { createScanHandler, type OfferItems } from './scan.ts';

/** All that a task may name. Cheap to make: what a handler needs is loaded with its first run on a thread. */
export const builtInHandlers: readonly BuiltInHandler[] = [...createFileHandlers(), ...builtInIoHandlers];
