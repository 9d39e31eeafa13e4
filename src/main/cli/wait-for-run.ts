/** Waits for the end of a run. The daemon may end first: then the error says what becomes of the run, and carries its id. */
import type { RunDocument } from '../../actors/control/index.ts';
import { ColibriError, type ErrorCode } from '../../actors/kernel/index.ts';
import type { ControlClient } from './client.ts';

export interface WaitOptions {
  readonly signal: AbortSignal;
  /** Whether what the daemon has accepted is there again when it is started again. */
  readonly isKept: boolean;
}

/** What the question ends with when the daemon, or the thread that answers it, is gone. */
const DAEMON_ENDED: ReadonlySet<ErrorCode> = new Set([
  'no-daemon',
  'shutting-down',
  'mailbox-closed',
  'thread-lost',
]);

export async function waitForRun(
  client: ControlClient,
  run: string,
  { signal, isKept }: WaitOptions,
): Promise<RunDocument> {
  const path = `/runs/${encodeURIComponent(run)}`;
  try {
    return (await client.get(path, { wait: 'true' }, { timeoutMs: null, signal })) as RunDocument;
  } catch (error) {
    if (signal.aborted || !(error instanceof ColibriError) || !DAEMON_ENDED.has(error.code)) throw error;
    const after = isKept
      ? `the run is kept, and goes on when the daemon is started again; \`colibri show ${run}\` shows it then`
      : 'the store is in memory, so the run is lost with the daemon unless it ended just before; trigger it again';
    throw Object.assign(
      new ColibriError('no-daemon', `expected ${run} to end, got the end of the daemon before: ${after}`, {
        cause: error,
      }),
      { run },
    );
  }
}
