/** `noop`: does nothing, on either kind of pool. For measuring, and for trying a schedule out. */
import type { BuiltInHandler } from '../handler.ts';

export const noop: BuiltInHandler = {
  name: 'noop',
  kind: 'io',
  kinds: ['io', 'cpu'],
  summary: 'Does nothing and succeeds.',
  inputSchema: { type: 'object', additionalProperties: true },
  perFile: false,
  pathKeys: [],
  handle: () => null,
};
