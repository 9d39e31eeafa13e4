/** Says that it is alive. */
import type { HandlerContext } from '../../src/main/index.ts';

export default function heartbeat(_input: unknown, context: HandlerContext): { uptime_seconds: number } {
  const uptime = Math.round(process.uptime());
  context.log.info('heartbeat', { uptime_seconds: uptime });
  return { uptime_seconds: uptime };
}
