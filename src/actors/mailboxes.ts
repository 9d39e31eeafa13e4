/** How much may wait for each actor, and for the device of the log: main adds it up where memory is looked at. */
import type { MailboxPolicy } from './kernel/index.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/**
 * Bounds of the mailboxes. Those of `io` and `guest` hold three messages a slot and `IO_MAILBOX_BYTES`. A thread lets
 * another send it 4 MiB before they are handled: `runs` has room for two such threads, the others for one and for what
 * comes from their own.
 */
export const MAILBOXES = {
  runs: { capacity: 65_536, capacityBytes: 8 * MIB, whenFull: 'block' },
  store: { capacity: 8192, capacityBytes: 8 * MIB, whenFull: 'block' },
  // The counters see every event. Losing a line is better than holding up the runs: lines, of which the mailbox
  // holds 1024 and 4 MiB at most, are given up first, and counted.
  telemetry: { capacity: 2048, capacityBytes: 8 * MIB, whenFull: 'block', highWater: 0.5, lowWater: 0.2 },
  control: { capacity: 16, capacityBytes: 64 * KIB, whenFull: 'reject' },
} as const satisfies Readonly<Record<string, MailboxPolicy>>;

export const IO_MAILBOX_BYTES = 8 * MIB;

/** Log lines that wait for their device, and one buffer kept for the next ones. */
export const LOG_BUFFERS = { chunkBytes: 64 * KIB, chunks: 16, spare: 1 } as const;
