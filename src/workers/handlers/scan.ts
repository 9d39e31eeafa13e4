/**
 * The handler behind `each: { files }`: walks the files of a glob and offers them, a batch at a time, as runs of
 * their task. The next batch is not looked for before the last one has room: a full ready queue stops the walk.
 */
import type { FoundItem, OfferReply } from '../../actors/protocol.ts';
import { scanFiles } from '../files/file-scan.ts';
import type { BuiltInHandler, HandlerContext } from '../handler.ts';

export interface ScanInput {
  readonly root: string;
  readonly pattern: string;
}

export interface ScanResult {
  /** Runs made. */
  readonly accepted: number;
  /** Files done before, or in work. */
  readonly known: number;
  /** Files for which a full queue had no room; the next scan finds them again. */
  readonly rejected: number;
  /** Files and folders that could not be looked at. */
  readonly skipped: number;
}

export type OfferItems = (task: string, items: readonly FoundItem[]) => Promise<OfferReply>;

/** Reasons of one scan that are logged one by one; of more, the number. */
const LOGGED_REASONS = 5;

export function createScanHandler(offer: OfferItems): BuiltInHandler {
  return {
    name: 'scan',
    kind: 'io',
    summary: 'looks for the files of a task with each: { files }',
    inputSchema: {
      type: 'object',
      properties: { root: { type: 'string' }, pattern: { type: 'string' } },
      required: ['root', 'pattern'],
      additionalProperties: false,
    },
    perFile: false,
    pathKeys: [],
    handle: (input: ScanInput, context: HandlerContext) => scan(input, context, offer),
  };
}

async function scan(input: ScanInput, context: HandlerContext, offer: OfferItems): Promise<ScanResult> {
  const sum = { accepted: 0, known: 0, rejected: 0, skipped: 0 };
  const batches = scanFiles({
    root: input.root,
    pattern: input.pattern,
    aborted: () => context.aborted,
    onSkipped(path, reason) {
      sum.skipped++;
      if (sum.skipped <= LOGGED_REASONS) context.log.warn('file passed by', { path, reason });
    },
  });
  for await (const items of batches) {
    for (let rest: readonly FoundItem[] = items; rest.length > 0 && !context.aborted; ) {
      const reply = await offer(context.task, rest);
      sum.accepted += reply.accepted;
      sum.known += reply.known;
      sum.rejected += reply.rejected;
      const again = new Set(reply.rest);
      rest = rest.filter((item) => again.has(item.mark));
    }
  }
  return sum;
}
