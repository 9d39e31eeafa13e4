/** `delay-child.ts ORDER`: one measurement of `delay` in a process of its own; ORDER and the answer are JSON. */
import type { ContenderName } from './delay-contenders.ts';
import { measureEverySecond, measureRandom } from './delay-lateness.ts';
import { measureBytes } from './delay-memory.ts';
import { measureRates } from './delay-rates.ts';

export type DelayOrder =
  | { readonly what: 'rates'; readonly name: ContenderName; readonly count: number; readonly rounds: number }
  | { readonly what: 'bytes'; readonly name: ContenderName; readonly count: number; readonly batchMs: number }
  | {
      readonly what: 'random';
      readonly name: ContenderName;
      readonly firings: number;
      readonly seconds: number;
      readonly batchMs: number;
    }
  | {
      readonly what: 'every-second';
      readonly name: ContenderName;
      readonly jobs: number;
      readonly seconds: number;
    };

function measure(order: DelayOrder): Promise<unknown> {
  switch (order.what) {
    case 'rates':
      return measureRates(order.name, order.count, order.rounds);
    case 'bytes':
      return measureBytes(order.name, order.count, order.batchMs);
    case 'random':
      return measureRandom(order);
    case 'every-second':
      return measureEverySecond(order);
  }
}

const answer = await measure(JSON.parse(process.argv[2]!) as DelayOrder);
process.stdout.write(JSON.stringify(answer), () => process.exit(0));
