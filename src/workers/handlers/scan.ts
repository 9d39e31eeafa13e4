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

/** Files of one scan that are logged one by one; of more, the number. */
const LOGGED_A_SCAN = 5;

/** Files that are logged in the life of the thread, each once for each reason. */
const LOGGED_EVER = 1000;

export function createScanHandler(offer: OfferItems): BuiltInHandler {
  const known = new Set<string>();
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
    handle: (input: ScanInput, context: HandlerContext) => scan(input, context, { offer, known }),
  };
}

interface Surroundings {
  readonly offer: OfferItems;
  /** Path and reason of what was logged: the next scan passes the same files by. */
  readonly known: Set<string>;
}

async function scan(input: ScanInput, context: HandlerContext, around: Surroundings): Promise<ScanResult> {
  const { offer, known } = around;
  const sum = { accepted: 0, known: 0, rejected: 0, skipped: 0 };
  let logged = 0;
  const batches = scanFiles({
    root: input.root,
    pattern: input.pattern,
    aborted: () => context.aborted,
    onSkipped(path, reason) {
      sum.skipped++;
      const key = `${path}\0${reason}`;
      if (logged === LOGGED_A_SCAN || known.size === LOGGED_EVER || known.has(key)) return;
      known.add(key);
      logged++;
      context.log.warn('file passed by', { path, reason });
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
