import type { ExecuteOrder, Outcome } from '../../src/actors/execution.ts';
import type { Clock } from '../../src/actors/kernel/clock.ts';
import { systemClock } from '../../src/actors/kernel/clock.ts';
import { type ActorRef, Delivery, type EnvelopeOf, type Messages } from '../../src/actors/kernel/envelope.ts';
import type { ActorContext } from '../../src/actors/kernel/index.ts';
import type { IoMessages, LogRecord } from '../../src/actors/protocol.ts';
import type { Handler, HandlerContext } from '../../src/workers/handler.ts';
import { type ContextLogLine, RunContext } from '../../src/workers/handler-context.ts';
import { type IoActorOptions, ioActor } from '../../src/workers/io-pool/io-actor.ts';
import { Registry } from '../../src/workers/registry.ts';

export function order(run: string, over: Partial<ExecuteOrder> = {}): ExecuteOrder {
  return { run, task: 'task', attempt: 1, handler: 'noop', input: '{}', timeoutMs: 1000, ...over };
}

/** Resolves when every microtask that is planned now, and those they plan, have run: a fill, a report. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Turns of the event loop until `reached`; a test that waits for what never comes fails instead of hanging. */
export async function turnsUntil(reached: () => boolean): Promise<void> {
  for (let turns = 0; !reached(); turns++) {
    if (turns > 10_000) throw new Error(`expected ${reached} within 10,000 turns of the event loop`);
    await turn();
  }
}

/** A reference whose deliveries are decided by `tryTell`. */
export function fakeRef<M extends Messages>(
  name: string,
  tryTell: (kind: string, body: unknown) => Delivery,
): ActorRef<M> {
  return {
    name,
    tryTell: (kind, body) => tryTell(kind, body),
    tell: async (kind, body) => {
      let delivery = tryTell(kind, body);
      for (let tries = 0; delivery === Delivery.Full; tries++) {
        if (tries > 1000) throw new Error('the receiver never had room');
        await turn();
        delivery = tryTell(kind, body);
      }
      if (delivery === Delivery.Closed) throw new Error('the receiver is stopped');
    },
    ask: () => Promise.reject(new Error('no questions here')),
  };
}

export interface Sent {
  readonly kind: string;
  readonly body: unknown;
}

/** Every message as `kind run`, in order; a letter of orders as one entry each. */
export function kinds(sent: readonly Sent[]): string[] {
  return sent.flatMap(({ kind, body }) =>
    kind === 'execute'
      ? ordersOf({ kind, body }).map(({ run }) => `execute ${run}`)
      : [`${kind} ${(body as { run: string }).run}`],
  );
}

/** The orders of one letter. */
export function ordersOf({ kind, body }: Sent): readonly ExecuteOrder[] {
  return kind === 'execute' ? (body as { orders: readonly ExecuteOrder[] }).orders : [];
}

/** The runs of each letter of orders. */
export function letters(sent: readonly Sent[]): string[][] {
  return sent
    .filter(({ kind }) => kind === 'execute')
    .map((letter) => ordersOf(letter).map(({ run }) => run));
}

/** An io actor alone: what it sends is kept, and outcomes can be awaited. */
export class ActorProbe {
  /** All outcomes, in the order they came; `letters` has them as they travelled. */
  readonly outcomes: Outcome[] = [];
  readonly letters: (readonly Outcome[])[] = [];
  readonly progress: unknown[] = [];
  readonly logs: LogRecord[] = [];
  /** Refuses so many messages to `runs` before it takes the next one. */
  refuse = 0;
  /** How it refuses them. */
  refusal: Delivery = Delivery.Full;
  readonly #waiting = new Map<string, (outcome: Outcome) => void>();
  readonly #behaviour: ReturnType<ReturnType<typeof ioActor>['create']>;

  constructor(handlers: Readonly<Record<string, Handler>>, over: Partial<IoActorOptions> = {}) {
    const builtIns = Object.entries(handlers).map(([name, handle]) => ({
      name,
      kind: 'io' as const,
      summary: '',
      inputSchema: {},
      perFile: false,
      pathKeys: [],
      handle,
    }));
    const registry = over.registry ?? new Registry({ builtIns, modules: [] });
    const definition = ioActor({ name: 'io', registry, reportTo: 'runs', ...over });
    this.#behaviour = definition.create(this.#context());
  }

  send<K extends keyof IoMessages>(kind: K, body: IoMessages[K]['body']): void {
    const envelope = {
      id: 1,
      kind,
      from: 'main',
      to: 'io',
      thread: 'main',
      deadlineAtMs: null,
      attempt: 1,
      question: false,
      body,
    };
    this.#behaviour.receive(envelope as EnvelopeOf<IoMessages>, { ok: () => {}, fail: () => {} });
  }

  execute(body: ExecuteOrder): Promise<Outcome> {
    const outcome = new Promise<Outcome>((resolve) => this.#waiting.set(body.run, resolve));
    this.send('execute', { orders: [body] });
    return outcome;
  }

  stop(): void {
    this.#behaviour.stop?.();
  }

  #context(): ActorContext {
    const runs = fakeRef<Messages>('runs', (kind, body) => this.#take(kind, body));
    const telemetry = fakeRef<Messages>('telemetry', (_kind, body) => {
      this.logs.push(body as LogRecord);
      return Delivery.Delivered;
    });
    return {
      system: undefined as never,
      clock: systemClock,
      ref: <N extends Messages>(name: string) =>
        (name === 'runs' ? runs : telemetry) as unknown as ActorRef<N>,
    };
  }

  #take(kind: string, body: unknown): Delivery {
    if (this.refuse > 0) {
      this.refuse--;
      return this.refusal;
    }
    if (kind === 'progress') {
      this.progress.push(body);
      return Delivery.Delivered;
    }
    const { outcomes } = body as { readonly outcomes: readonly Outcome[] };
    this.letters.push(outcomes);
    for (const outcome of outcomes) {
      this.outcomes.push(outcome);
      this.#waiting.get(outcome.run)?.(outcome);
    }
    return Delivery.Delivered;
  }
}

export interface TestContext {
  readonly context: RunContext;
  readonly lines: ContextLogLine[];
  readonly progress: [number, string | null][];
}

export function testContext(run = 'run', clock: Clock = systemClock): TestContext {
  const lines: ContextLogLine[] = [];
  const progress: [number, string | null][] = [];
  const context = new RunContext(
    { run, task: 'task', attempt: 2 },
    {
      monoMs: () => clock.monoMs(),
      log: (line) => void lines.push(line),
      progress: (_run, fraction, note) => void progress.push([fraction, note]),
    },
  );
  return { context, lines, progress };
}

/** A gate that a handler waits at. */
export function gate<Value = void>(): { readonly passed: Promise<Value>; open(value: Value): void } {
  const { promise, resolve } = Promise.withResolvers<Value>();
  return { passed: promise, open: resolve };
}

export function untilAborted(context: HandlerContext): Promise<void> {
  return new Promise((resolve) => {
    context.signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
