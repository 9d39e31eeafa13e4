/** What TypeScript sees of tasks: it is compiled and not run. An error that does not come is an error. */
import { App, type AppRun, type ItemTask, type SucceededRun, type TaskHandle, TestClock } from 'colibri';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function expectTrue<_T extends true>(): void {}

interface Order {
  readonly id: number;
  readonly amount: number;
}

const app = new App({
  store: { kind: 'memory' },
  clock: new TestClock(),
  stateDir: './state',
  queues: { ready: { backlogPerSecond: 10, whenFull: 'reject' }, deadLetter: { capacity: 5 } },
  groups: { api: { concurrency: 2 } },
  defaults: { timeoutSeconds: 5, maxRetry: 2, backoff: { kind: 'additive', jitterSeconds: 1 } },
  logLevel: 'silent',
});
// @ts-expect-error: keys are camelCase
new App({ state_dir: './state' });
// @ts-expect-error: closed sets
new App({ store: { kind: 'redis' } });
// @ts-expect-error: a slip of the pen
new App({ queues: { ready: { capcity: 5 } } });
// @ts-expect-error: tasks are defined by app.task
new App({ tasks: [] });

// — inferred from the function
const pullOrder = app.task({ name: 'pull_order', maxRetry: 3, timeoutSeconds: 30 }, async (date: string) => {
  return [{ id: date.length, amount: 1 }] as Order[];
});
expectTrue<Same<typeof pullOrder, TaskHandle<string, Order[]>>>();
const count = app.task({ name: 'count' }, (input: { readonly of: Order[] }, context) => {
  context.progress(0.5);
  // @ts-expect-error: the context has no such member
  context.nothing;
  return input.of.length;
});
expectTrue<Same<typeof count, TaskHandle<{ readonly of: Order[] }, number>>>();
const nothing = app.task({ name: 'nothing' }, () => {});
expectTrue<Same<typeof nothing, TaskHandle<unknown, void>>>();

// — what a trigger takes and gives
export async function triggers(): Promise<void> {
  const orders = await app.trigger(pullOrder, '2026-01-01', { wait: true });
  expectTrue<Same<typeof orders, SucceededRun<Order[]>>>();
  const [first] = orders.result;
  first?.amount satisfies number | undefined;
  const accepted = await app.trigger(pullOrder, '2026-01-01', { inMs: 5 });
  accepted.id satisfies string;
  // @ts-expect-error: a run that was not waited for has no result
  accepted.result;
  // @ts-expect-error: the input is a text
  await app.trigger(pullOrder, 5);
  // @ts-expect-error: the input is missing
  await app.trigger(pullOrder);
  // @ts-expect-error: the input is missing, also where its end is waited for
  await app.trigger(pullOrder, undefined, { wait: true });
  // @ts-expect-error: a part of the input is missing
  await app.trigger(count, {});
  await app.trigger(nothing);
  (await app.trigger(nothing, undefined, { wait: true })).result satisfies null;
  // @ts-expect-error: a handle, not a name
  await app.trigger('pull_order', '2026-01-01');
  const shown: AppRun | null = await app.run(accepted.id);
  shown?.result satisfies unknown;
  // @ts-expect-error: no such state
  await app.runs({ task: pullOrder, state: 'done' });
}

// — a result is what JSON leaves of it
const dated = app.task({ name: 'dated' }, () => ({ at: new Date(), note: 'x' }));
export async function results(): Promise<void> {
  const { result } = await app.trigger(dated, undefined, { wait: true });
  result.at satisfies string;
  // @ts-expect-error: a date comes back as a text
  result.at.getTime();
}

class Basket {
  readonly items: string[] = [];
  readonly note: string | undefined = undefined;
  total() {
    return this.items.length;
  }
}
const lossy = app.task({ name: 'lossy' }, () => ({
  maybe: Math.random() < 0.5 ? undefined : 1,
  gaps: [1, undefined],
  pair: [new Date(), undefined] as [Date, undefined],
  any: null as unknown as { readonly part?: Date; what: unknown },
  basket: new Basket(),
}));
type Left = {
  readonly gaps: (number | null)[];
  readonly pair: [string, null];
  readonly any: { readonly part?: string; what: unknown };
  readonly basket: { readonly items: string[]; readonly note?: string };
  readonly maybe?: number;
};
const refused = app.task({ name: 'refused' }, () => ({ ids: new Map<string, number>(), big: 1n }));
type Tree = string | number | boolean | null | Tree[] | { [key: string]: Tree };
const itself = app.task({ name: 'itself' }, (tree: Tree) => tree);
interface Folder {
  readonly name: string;
  readonly changed: Date;
  readonly inner: readonly Folder[];
}
const folders = app.task({ name: 'folders' }, () => ({ name: '', changed: new Date(), inner: [] }) as Folder);
export async function leftOvers(): Promise<void> {
  const { result } = await app.trigger(lossy, undefined, { wait: true });
  result satisfies Left;
  null as unknown as Left satisfies typeof result;
  // @ts-expect-error: a method is not there
  result.basket.total;
  // @ts-expect-error: it may be missing
  result.basket.note.length;
  const never = (await app.trigger(refused, undefined, { wait: true })).result;
  expectTrue<Same<typeof never, { ids: never; big: never }>>();
  const tree = (await app.trigger(itself, ['a', { b: 1 }], { wait: true })).result;
  expectTrue<Same<typeof tree, Tree>>();
  const folder = (await app.trigger(folders, undefined, { wait: true })).result;
  folder.inner[0]?.inner[0]?.changed satisfies string | undefined;
}
const mapped = app.task({ name: 'mapped' }, () => ({ by: new Map([['a', 1]]), rows: [{ id: 1 }] }));
app.task({ name: 'after-mapped', dependsOn: [mapped] }, (_: string, ctx) => {
  ctx.resultOf(mapped).rows[0]?.id satisfies number | undefined;
  // @ts-expect-error: JSON has no Map, and its run fails
  ctx.resultOf(mapped).by.get('a');
});

// — a task that starts by itself has all of its input from `with`
const url = (input: { readonly url: string; readonly retries?: number }) => input.url;
const poll = app.task(
  { name: 'poll', every: '30s', group: 'api', with: { url: 'https://example.org' } },
  url,
);
export const again = () => app.trigger(poll, { retries: 2 }).then(() => app.trigger(poll));
// @ts-expect-error: nobody gives it the url
app.task({ name: 'poll-nothing', every: '30s' }, url);
// @ts-expect-error: nor here
app.task({ name: 'poll-at-start', runOnStart: true, with: { retries: 1 } }, url);
// @ts-expect-error: of the wrong type
app.task({ name: 'poll-wrong', with: { url: 5 } }, url);
// @ts-expect-error: a schedule gives no text
app.task({ name: 'pull-nightly', schedule: '0 2 * * *' }, async (date: string) => date);
app.task(
  { name: 'tick', schedule: '0 2 * * *', overlap: 'queue-one' },
  (input: { force?: boolean }) => input,
);
app.task({ name: 'files', each: { files: './in/*' }, every: '5s' }, (input: { path: string }) => input.path);
// @ts-expect-error: no such policy
app.task({ name: 'policy', overlap: 'sometimes' }, () => {});
// @ts-expect-error: a function has no thread of its own
app.task({ name: 'thread', kind: 'cpu' }, () => {});
// @ts-expect-error: a slip of the pen
app.task({ name: 'slip', maxRetries: 3 }, () => {});

// — modules and built-in handlers
const module = new URL('../modules/digest.ts', import.meta.url);
const digest = app.task<{ text: string }, { sha256: string }>({ name: 'digest', kind: 'cpu', module });
expectTrue<Same<typeof digest, TaskHandle<{ text: string }, { sha256: string }>>>();
export const hexOf = async () => (await app.trigger(digest, { text: 'a' }, { wait: true })).result.sha256;
// @ts-expect-error: the input of the module
export const wrongInput = () => app.trigger(digest, { txt: 'a' });
const untyped = app.task({ name: 'untyped', kind: 'cpu', module });
export const loose = async () =>
  (await app.trigger(untyped, { text: 'a' }, { wait: true })).result satisfies unknown;
app.task({ name: 'hash', handler: 'hash', with: { algorithm: 'sha256' }, each: { files: './in/*' } });
// @ts-expect-error: a task runs something
app.task({ name: 'empty' });
// @ts-expect-error: one of both
app.task({ name: 'both', module, handler: 'hash' });

// — events
app.on('runEnded', (run) => run.durationMs satisfies number | null);
app.on('fault', (error) => error.code satisfies string);
// @ts-expect-error: no such event
app.on('ended', () => {});

// — flows
const sumAmount = app.task({ name: 'sum_amount', dependsOn: [pullOrder] }, async (date: string, ctx) => {
  const orders = ctx.resultOf(pullOrder);
  expectTrue<Same<typeof orders, Order[]>>();
  // @ts-expect-error: it does not wait for this one
  ctx.resultOf(count);
  return { date, total: orders.reduce((sum, order) => sum + order.amount, 0) };
});
expectTrue<Same<typeof sumAmount, TaskHandle<string, { date: string; total: number }>>>();
app.task({ name: 'alone' }, (_: string, ctx) => {
  // @ts-expect-error: it waits for none
  ctx.resultOf(pullOrder);
});
const report = app.flow('daily_report', [pullOrder, sumAmount], { onFinished: (run) => run.state });
expectTrue<Same<typeof report, TaskHandle<string, null>>>();
// — a flow that starts by itself has no payload
const today = app.task({ name: 'today' }, (input: { readonly day?: string }) => input.day);
app.flow('by-nothing', [today, nothing], { every: '1h', runOnStart: true });
app.flow<undefined>('by-with', [{ task: count, with: { of: [] } }], { schedule: '0 2 * * *' });
app.flow('by-base', [poll], { schedule: '0 2 * * *' });
app.flow('by-hand', [pullOrder], { overlap: 'queue-all', runOnStart: false });
// @ts-expect-error: a schedule gives no text
app.flow('of-texts', [pullOrder], { schedule: '0 2 * * *' });
// @ts-expect-error: nor what is missing in an object
app.flow('of-objects', [count], { every: '1h' });
// @ts-expect-error: nor at the start
app.flow('of-start', [nothing, { task: count }], { runOnStart: true });
// @ts-expect-error: one takes a text, the other an object
app.flow<string>('mixed', [pullOrder, count]);
// @ts-expect-error: keys are camelCase
app.flow('slip', [pullOrder], { run_on_start: true });
export async function flows(): Promise<void> {
  await app.trigger(report, '2026-01-01', { wait: true });
  // @ts-expect-error: its payload is a text
  await app.trigger(report, 5);
  const again = await app.rerun('daily_report@1', { from: sumAmount });
  again.id satisfies string;
  const steps = await app.steps(again.id);
  steps?.[0]?.state satisfies 'pending' | string | undefined;
}

// — a run for each item of a list
const billOrder = app.task(
  { name: 'bill_order', each: { list: pullOrder, concurrency: 5 }, dependsOn: [sumAmount] },
  (order, ctx) => {
    expectTrue<Same<typeof order, { readonly id: number; readonly amount: number }>>();
    ctx.resultOf(sumAmount).total satisfies number;
    // @ts-expect-error: it gets an item of the list, and waits for no more of it
    ctx.resultOf(pullOrder);
    return order.id;
  },
);
expectTrue<Same<typeof billOrder, ItemTask<{ readonly id: number; readonly amount: number }, number>>>();
app.task({ name: 'named', each: { list: pullOrder } }, (order: Order) => order.amount);
// @ts-expect-error: the items are orders
app.task({ name: 'texts', each: { list: pullOrder } }, (text: string) => text);
// @ts-expect-error: what comes of it is no list
app.task({ name: 'no-list', each: { list: sumAmount } }, () => {});
// @ts-expect-error: of no task
app.task({ name: 'loose-list', each: { list: [1, 2] } }, () => {});
// @ts-expect-error: a slip of the pen
app.task({ name: 'slip-of-each', each: { list: pullOrder, onItemFail: 'stop' } }, () => {});
// @ts-expect-error: its items come in a flow, not by themselves
app.task({ name: 'by-itself', each: { list: pullOrder }, every: '5s' }, () => {});
// — the results of its items are a list
app.task({ name: 'after', dependsOn: [billOrder, sumAmount] }, (_: string, ctx) => {
  const bills = ctx.resultOf(billOrder);
  expectTrue<Same<typeof bills, number[]>>();
  // @ts-expect-error: it is no single one
  bills satisfies number;
  ctx.resultOf(sumAmount).total satisfies number;
  // @ts-expect-error: it does not wait for this one
  ctx.resultOf(pullOrder);
});
app.task({ name: 'after-all', dependsOn: [billOrder], onUpstreamFailure: 'run' }, (_: string, ctx) => {
  const bills = ctx.resultOf(billOrder);
  expectTrue<Same<typeof bills, (number | null)[] | null>>();
});
const dateOrder = app.task({ name: 'date_order', each: { list: pullOrder } }, (order) => ({
  order,
  at: new Date(),
}));
app.task({ name: 'after-dates', dependsOn: [dateOrder] }, (_: string, ctx) => {
  ctx.resultOf(dateOrder)[0]?.at satisfies string | undefined;
  // @ts-expect-error: a date comes back as a text
  ctx.resultOf(dateOrder)[0]?.at.getTime();
});
const billModule = app.task<Order, { id: string }>({ name: 'bill-file', module, each: { list: pullOrder } });
app.task({ name: 'after-module', dependsOn: [billModule] }, (_: string, ctx) => {
  ctx.resultOf(billModule).map(({ id }) => id) satisfies string[];
});
app.task({ name: 'each-of-each', each: { list: billOrder } }, (bill) => {
  expectTrue<Same<typeof bill, number>>();
});
// @ts-expect-error: they are numbers
app.task({ name: 'each-of-texts', each: { list: billOrder } }, (bill: string) => bill);
app.task<Order, void>({ name: 'bill-module', module, kind: 'cpu', each: { list: pullOrder } });
// @ts-expect-error: the module takes texts
app.task<string, void>({ name: 'bill-wrong', module, each: { list: pullOrder } });
app.task({ name: 'bill-hash', handler: 'hash', each: { list: pullOrder, onItemFailure: 'continue' } });

// — after a failure there may be no result
app.task({ name: 'clean', dependsOn: [sumAmount], onUpstreamFailure: 'run' }, (_: string, ctx) => {
  ctx.resultOf(sumAmount)?.total satisfies number | undefined;
  // @ts-expect-error: it may be null
  ctx.resultOf(sumAmount).total;
  ctx.flow?.payload satisfies unknown;
});
// @ts-expect-error: no such policy
app.task({ name: 'policy-of-step', dependsOn: [sumAmount], onUpstreamFailure: 'wait' }, () => {});

// — what a step has in its flow alone
const billing = app.flow('billing', [
  { task: pullOrder, maxRetry: 8, timeoutSeconds: 60, backoff: { kind: 'additive', jitterSeconds: 1 } },
  { task: sumAmount, expect: { minRows: 1, schema: { type: 'object' } } },
  billOrder,
  { task: digest, with: { text: '{{ steps.sum_amount.result.date }}' } },
]);
expectTrue<Same<typeof billing, TaskHandle<string, null>>>();
// @ts-expect-error: keys are camelCase
app.flow('slip-of-step', [{ task: pullOrder, max_retry: 8 }]);
// @ts-expect-error: what a task waits for stands at the task
app.flow('slip-of-wait', [{ task: pullOrder, dependsOn: [] }]);
// @ts-expect-error: keys of guards are camelCase too
app.flow('slip-of-guard', [{ task: pullOrder, expect: { min_rows: 1 } }]);
app.flow<string>('alarmed', [pullOrder], { onFailure: { task: nothing } });
// @ts-expect-error: the task that tells of it takes an object, the payload is a text
app.flow<string>('alarmed-wrong', [pullOrder], { onFailure: { task: count } });
