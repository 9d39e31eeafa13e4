/** How TypeScript tells what starts by itself, and so gets no payload, from what starts when it is triggered. */
import type { RawTask } from '../config/index.ts';
import type { InCamelCase } from './camel-case.ts';

export type Starts = 'schedule' | 'every' | 'at' | 'run_on_start';

/** It may start by itself. */
export type ByItself = InCamelCase<Pick<RawTask, Starts>>;

/** It starts when it is triggered. */
export interface OnTrigger {
  readonly schedule?: undefined;
  readonly every?: undefined;
  readonly at?: undefined;
  readonly runOnStart?: false | undefined;
}

/** A flow that starts by itself has an empty object as its payload: one that needs more starts when it is triggered. */
export type FlowStart<Payload> = [Payload] extends [undefined]
  ? unknown
  : Record<never, never> extends Payload
    ? unknown
    : OnTrigger;
