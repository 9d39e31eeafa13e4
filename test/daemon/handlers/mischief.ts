/** Does to its thread what users' modules do by mistake. */
import { pbkdf2Sync } from 'node:crypto';
import { writeSync } from 'node:fs';
import type { HandlerContext } from '../../../src/workers/handler.ts';

export default function mischief(input: { how: string }, context: HandlerContext): unknown {
  switch (input.how) {
    case 'exit':
      return process.exit(1);
    case 'spin':
      for (;;);
    case 'heap': {
      const kept: unknown[] = [];
      for (;;) kept.push(new Array(10_000).fill(kept.length));
    }
    case 'native':
      // Past the links between threads, which the call is about to block.
      writeSync(2, 'native call begins\n');
      return pbkdf2Sync('secret', 'salt', 100_000_000, 32, 'sha512').toString('hex');
    case 'never':
      return new Promise(() => {});
    case 'throw':
      throw new Error('thrown at once');
    case 'timer':
      return new Promise(() => {
        setTimeout(() => {
          throw new Error('thrown in a timer');
        }, 1);
      });
    case 'undefined':
      throw undefined;
    case 'string':
      throw 'a bare string';
    case 'rejection':
      return Promise.reject(new Error('rejected'));
    case 'function':
      return () => {};
    case 'bigint':
      return { value: 1n };
    case 'circle': {
      const circle: { self?: unknown } = {};
      circle.self = circle;
      return circle;
    }
    case 'flaky':
      if (context.attempt === 1) throw new Error('the first time');
      return context.attempt;
    default:
      return { run: context.run, attempt: context.attempt };
  }
}
