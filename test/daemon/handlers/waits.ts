/** Says that it has begun, and ends when a file is there. It goes with the daemon that it runs in. */
import { existsSync } from 'node:fs';
import { setTimeout as passed } from 'node:timers/promises';
import type { HandlerContext } from '../../../src/workers/handler.ts';

export default async function waits(input: { file: string }, { log }: HandlerContext): Promise<void> {
  log.info('has begun');
  while (!existsSync(input.file)) await passed(10);
}
