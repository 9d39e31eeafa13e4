/** A thread with an io actor under guard, as the guest thread has it; main sends orders and gets what is sent. */
import { parentPort } from 'node:worker_threads';
import type { ExecuteOrder } from '../../src/actors/execution.ts';
import type { Handler } from '../../src/workers/handler.ts';
import { ActorProbe } from './io-fixtures.ts';

const later = (act: () => void) => {
  setTimeout(act, 1);
  return new Promise(() => {});
};

const handlers: Readonly<Record<string, Handler>> = {
  fine: () => 'fine',
  timer: () =>
    later(() => {
      throw new Error('in a timer');
    }),
  null: () =>
    later(() => {
      throw null;
    }),
  immediate: () =>
    new Promise(() => {
      setImmediate(() => {
        throw 'text';
      });
    }),
  microtask: () =>
    new Promise(() => {
      queueMicrotask(() => {
        throw undefined;
      });
    }),
  tick: () =>
    new Promise(() => {
      process.nextTick(() => {
        throw Symbol('tick');
      });
    }),
  floating: () => {
    Promise.reject(new Error('floating'));
    return new Promise(() => {});
  },
  'floating-later': async () => {
    await null;
    (async () => {
      await null;
      throw new Error('deep');
    })();
    return new Promise(() => {});
  },
  exit: () => process.exit(3),
  'exit-caught': async () => {
    try {
      process.exit(4);
    } catch {
      return 'went on';
    }
  },
  'exit-timer': () => later(() => process.exit(5)),
  'exit-named': async () => {
    const { exit } = await import('node:process');
    exit(6);
  },
  'after-end': () => {
    setTimeout(() => {
      throw new Error('after the end');
    }, 1);
    return 'ended';
  },
};

const probe = new ActorProbe(handlers, { name: 'guest' });
parentPort?.on('message', (order: ExecuteOrder) => {
  void probe.execute(order).then((outcome) => parentPort?.postMessage({ outcome }));
});
// Of no run: thrown from outside of any handler.
parentPort?.once('message', () => {
  setTimeout(() => {
    throw new Error('nobody');
  }, 0);
});
const { push } = probe.logs;
probe.logs.push = (...lines) => {
  for (const line of lines) parentPort?.postMessage({ log: line });
  return push.apply(probe.logs, lines);
};
