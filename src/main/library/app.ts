/**
 * The runtime as a part of a program: its tasks are the program's functions, modules that run on threads, and built-in
 * handlers. A guest: no signal handlers, no flags, no end of the process.
 *
 *   idle ─ start ─▶ starting ─▶ started ─ stop ─▶ stopping ─▶ idle
 *
 * Tasks are defined while it is idle. Start and stop are idempotent, legal in any order, and shared by those who call
 * them at the same time.
 */
import { Flows } from '../../actors/flow/index.ts';
import { type Clock, ColibriError, systemClock } from '../../actors/kernel/index.ts';
import type { RerunChoice, TriggerReply } from '../../actors/protocol.ts';
import { findRun, listRuns } from '../../actors/runs/index.ts';
import type { RunState } from '../../actors/runs/run-states.ts';
import type { FlowStepView } from '../../actors/views/run-view.ts';
import { type Handler, InlinePool, LoopWatch } from '../../workers/index.ts';
import { formatProblem } from '../config/index.ts';
import { Daemon } from '../daemon.ts';
import { programVersion } from '../version.ts';
import { AppConfig, type WrittenFlow } from './app-config.ts';
import type { AppOptions } from './app-options.ts';
import { type AppRun, appRun, RunFailed, type SucceededRun } from './app-run.ts';
import type { DefineTask } from './define-task.ts';
import { EndTeller } from './end-teller.ts';
import { expectNode } from './expect-node.ts';
import type { FlowOptions, FlowStep, RerunFlow, RerunOptions } from './flow-options.ts';
import { expectFunction, Handles, invalidOptions, listOf, objectOf } from './handles.ts';
import { type AppEvents, Listeners } from './listeners.ts';
import { readResult } from './read-result.ts';
import { type RunsFilter, runFilter, runId } from './run-questions.ts';
import { runTexts } from './run-texts.ts';
import type { FlowStart } from './starts.ts';
import { wholeInput } from './step-input.ts';
import type { AnyTask, ItemTask, TaskHandle } from './task-handle.ts';
import type { Payload } from './task-options.ts';
import { type TriggerOptions, triggerBody } from './trigger-options.ts';

/** A task as far as it is looked at here. */
interface WrittenTask {
  readonly name?: unknown;
  readonly dependsOn?: unknown;
  readonly each?: { readonly list?: unknown };
}

const STOPPED_MEANWHILE = 'expected to start, got a stop meanwhile';

export class App implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #config: AppConfig;
  readonly #handles = new Handles();
  readonly #listeners = new Listeners((event, error) =>
    this.#daemon?.log('error', 'a listener failed', { event, error: String(error) }),
  );
  readonly #ends: EndTeller;
  #daemon: Daemon | null = null;
  /** The daemon takes work. */
  #ready = false;
  #starting: Promise<void> | null = null;
  #stopping: Promise<void> | null = null;
  /** Counts the stops: a start that waits for one gives up where there was another. */
  #stops = 0;
  #idleWaiters: (() => void)[] = [];

  /** Throws `ConfigInvalid`, whose `problems` are all there are. */
  constructor(options: AppOptions = {}) {
    objectOf(options, 'new App', 'options by their keys');
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#config = new AppConfig(options, () => this.#clock.wallMs());
    this.#ends = new EndTeller({
      listeners: this.#listeners,
      flows: this.#config.flows,
      onTold: () => {
        if (this.#idleWaiters.length > 0 && this.#daemon?.isBusy !== true) this.#answerIdle();
      },
    });
  }

  /**
   * Defines a task. A function runs on this thread, beside all else of the program; it should pass `context.signal` on.
   * Throws `ConfigInvalid`: for a name that there is already, for anything the loader refuses, and after the start.
   */
  readonly task = ((spec: object, run: unknown = null) =>
    this.#define(spec, run as Handler | null)) as DefineTask;

  /**
   * Defines a flow of tasks that wait for each other as their `dependsOn` says. What a trigger gives it is the input of its
   * functions and modules. Throws `ConfigInvalid`: for a task that another one waits for and that is missing, for anything
   * the loader refuses, and after the start.
   */
  flow<Payload = undefined>(
    name: string,
    steps: readonly FlowStep<Payload>[],
    options?: FlowOptions<NoInfer<Payload>> & FlowStart<NoInfer<Payload>>,
  ): TaskHandle<Payload, null>;
  flow<Payload>(
    name: string,
    steps: readonly FlowStep<Payload>[],
    options: FlowOptions<Payload> = {},
  ): TaskHandle<Payload, null> {
    this.#expectIdle(`flow ${name}: expected flows`);
    const { onFailure, onFinished, onFailed } = objectOf(options, `flow ${name}`, 'options');
    for (const [key, listener] of Object.entries({ onFinished, onFailed })) {
      if (listener !== undefined) expectFunction(listener, `flow ${name}: ${key}`);
    }
    const failure =
      onFailure === undefined
        ? null
        : { task: this.#handles.taskNameOf(onFailure.task), with: onFailure.with };
    const written = listOf(steps, `flow ${name}: steps`, 'a list of the handles of tasks');
    this.#config.addFlow(name, { steps: written.map((step) => this.#stepOf(step)), failure, options });
    return this.#handles.give(name, 'flow') as TaskHandle<Payload, null>;
  }

  /**
   * Resolves when runs can begin. Rejects with what kept it from starting, `state-dir-held` among it, and with
   * `shutting-down` where it was stopped meanwhile; then it is idle again.
   */
  start(): Promise<void> {
    this.#starting ??= this.#start();
    return this.#starting;
  }

  /** Running work gets `shutdown.graceSeconds`, then is told to stop. Resolves when all threads have ended. */
  stop(): Promise<void> {
    this.#stops++;
    this.#starting = null;
    this.#ready = false;
    if (this.#daemon === null) return Promise.resolve();
    this.#stopping ??= this.#daemon.stop().finally(() => {
      this.#daemon = null;
      this.#stopping = null;
      this.#answerIdle();
    });
    return this.#stopping;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /**
   * Makes a run. With `wait` it resolves when the run has succeeded, and rejects with `RunFailed` when it ended in another
   * way; without, when it is accepted: it is not lost then, whatever happens to the process (with a store in memory: while
   * the app runs). Rejects with `no-daemon` before the start, `overlap-refused`, `queue-full`, `input-invalid`,
   * `store-unavailable`, `shutting-down`.
   */
  trigger<Input, Output>(
    task: TaskHandle<Input, Output> | ItemTask<Input, Output>,
    input: Payload<Input>,
    options: TriggerOptions & { readonly wait: true },
  ): Promise<SucceededRun<Output>>;
  trigger<Input, Output>(
    task: TaskHandle<Input, Output> | ItemTask<Input, Output>,
    ...rest: undefined extends Payload<Input>
      ? [input?: Payload<Input>, options?: TriggerOptions]
      : [input: Payload<Input>, options?: TriggerOptions]
  ): Promise<{ readonly id: string; readonly task: string }>;
  async trigger(
    task: AnyTask,
    input?: unknown,
    options: TriggerOptions = {},
  ): Promise<{ readonly id: string; readonly task: string }> {
    const name = this.#handles.nameOf(task);
    const body = triggerBody({ ...options, task: name, input, nowMs: this.#clock.wallMs() });
    const { runs } = this.#running();
    let reply: TriggerReply;
    try {
      reply = await runs.ask('trigger', body, { timeoutMs: null });
    } catch (error) {
      throw fromHere(isClosed(error) ? stoppedWhile(name) : error);
    }
    const { run, ended } = reply;
    if (ended === null) return { id: run, task: task.name };
    const view = appRun(ended);
    if (view.state !== 'success') throw new RunFailed(view);
    const whole: AppRun & { readonly id: string } = { ...view, result: await readResult(view.result) };
    return whole;
  }

  /** Ends a run that waits or is on a slot; gives the state it is in by then. Rejects with `no-such-run`. */
  async cancel(run: string): Promise<RunState> {
    const id = runId(run);
    const { runs } = this.#running();
    try {
      return (await runs.ask('cancel', { run: id })).state;
    } catch (error) {
      throw fromHere(error);
    }
  }

  /** All that is known of a run; null: it never was, or has been forgotten. */
  async run(id: string): Promise<AppRun | null> {
    const { runs, store } = this.#running();
    const view = await findRun({ runs, store }, runId(id));
    return view === null ? null : appRun(view);
  }

  /** Runs that are not over and those of the past, the newest first. */
  async runs(filter: RunsFilter = {}): Promise<readonly AppRun[]> {
    const wanted = runFilter(filter);
    const { runs, store } = this.#running();
    return (await listRuns({ runs, store }, wanted)).map(appRun);
  }

  /** How the steps of a run of a flow do, or did; null: that is not kept any more. Rejects with `no-such-run`. */
  async steps(run: string): Promise<readonly FlowStepView[] | null> {
    const id = runId(run);
    const { runs } = this.#running();
    try {
      return (await runs.ask('flow-show', { run: id })).steps;
    } catch (error) {
      throw fromHere(error);
    }
  }

  /**
   * Runs a flow again whose run is over: a new run, which takes over the results of the steps, and of the items of lists, that do
   * not run again. Rejects as a trigger does, and with `no-such-run`, `rerun-refused`, `usage`.
   */
  async rerun(run: string, { from, failed }: RerunOptions = {}): Promise<RerunFlow> {
    if (from !== undefined && failed === true) {
      throw new ColibriError('usage', 'rerun: expected either from or failed, got both');
    }
    const whole: RerunChoice = { kind: failed === true ? 'failed' : 'whole' };
    const choice: RerunChoice =
      from === undefined ? whole : { kind: 'step', step: this.#handles.taskNameOf(from) };
    const id = runId(run);
    const { runs } = this.#running();
    try {
      const { run: again, ...anew } = await runs.ask('flow-rerun', { run: id, choice }, { timeoutMs: null });
      return { id: again, ...anew };
    } catch (error) {
      throw fromHere(error);
    }
  }

  /**
   * Resolves when nothing is left to do but by time, at once where the app is not started: what was triggered before is taken
   * in, no run is on a slot or only waits for one, and listeners were told of all that ended. Runs that wait for their time,
   * for a retry, or for a rate do not count.
   */
  async idle(): Promise<void> {
    for (let daemon = this.#daemon; daemon !== null && daemon === this.#daemon; ) {
      if (!this.#ready) return this.#stopping ?? undefined;
      try {
        await daemon.settled();
      } catch (error) {
        if (isClosed(error)) return this.#stopping ?? undefined;
        throw error;
      }
      if (!daemon.isBusy || this.#daemon !== daemon) return;
      await new Promise<void>((resolve) => this.#idleWaiters.push(resolve));
    }
  }

  /**
   * Calls back on each event until the function that it gives is called. What a listener throws is logged, also an async
   * one. Throws `usage` for an event that there is not, `ConfigInvalid` for no function.
   */
  on<Name extends keyof AppEvents>(name: Name, listener: (event: AppEvents[Name]) => void): () => void {
    return this.#listeners.on(name, listener);
  }

  async #start(): Promise<void> {
    const stops = this.#stops;
    try {
      expectNode(process.versions.node);
      await this.#startUnless(() => this.#stops !== stops);
    } catch (error) {
      // Where it was stopped meanwhile that has ended it, and what is there now is of a later start.
      if (this.#stops === stops) await this.stop();
      throw error;
    }
  }

  async #startUnless(isStopped: () => boolean): Promise<void> {
    // A stop that is under way ends first.
    await this.#stopping;
    if (isStopped()) throw new ColibriError('shutting-down', STOPPED_MEANWHILE);
    this.#ends.begin();
    let flows: Flows | null = null;
    const daemon: Daemon = new Daemon({
      config: this.#config.config,
      version: programVersion(),
      clock: this.#clock,
      random: this.#random,
      createFlows: (parts) => {
        flows = new Flows(parts);
        return flows;
      },
      embedded: {
        createPool: (parts) =>
          new InlinePool({
            ...parts,
            functions: this.#config.functions,
            wholeInput: ({ run, input }) =>
              wholeInput(input, runTexts(run, { daemon, reads: flows?.reads ?? null })),
            watch: new LoopWatch((msg, fields) => daemon.log('warn', msg, fields)),
          }),
        onRecorded: (batch) => this.#ends.recorded(batch),
      },
      onFatal: (error) => {
        if (this.#daemon === daemon) this.#fault(error);
      },
    });
    this.#daemon = daemon;
    await daemon.start();
    if (isStopped()) throw new ColibriError('shutting-down', STOPPED_MEANWHILE);
    this.#ready = true;
    for (const problem of this.#config.warnings) {
      daemon.log('warn', 'config', { problem: formatProblem(problem) });
    }
  }

  #define(given: object, run: Handler | null): AnyTask {
    const spec: WrittenTask = objectOf(given, 'task', "what it is, such as { name: 'report' }");
    this.#expectIdle(`task ${spec.name}: expected tasks`);
    const { each } = spec;
    this.#handles.taskNamesOf(spec.dependsOn, `task ${spec.name}: dependsOn`);
    if (each != null && Object.hasOwn(each, 'list')) this.#handles.taskNameOf(each.list);
    return this.#handles.give(this.#config.add(spec, run), 'task');
  }

  #running(): Daemon {
    if (this.#daemon !== null && this.#ready) return this.#daemon;
    throw new ColibriError(
      'no-daemon',
      'expected an app that is started, got one that is not; await app.start() first',
    );
  }

  #expectIdle(what: string): void {
    if (this.#starting === null && this.#daemon === null) return;
    const message = `${what} before the start, got one after it; define all of them, then start`;
    throw invalidOptions(message);
  }

  #stepOf(step: unknown): WrittenFlow['steps'][number] {
    if (typeof step !== 'object' || step === null || !('task' in step)) {
      return { task: this.#handles.taskNameOf(step), settings: {}, with: undefined };
    }
    const { task, with: own, ...settings } = step as { readonly task: unknown; readonly with?: unknown };
    return { task: this.#handles.taskNameOf(task), settings, with: own };
  }

  #answerIdle(): void {
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  #fault(error: ColibriError): void {
    if (!this.#listeners.has('fault')) process.emitWarning(error);
    this.#listeners.emit('fault', error);
    void this.stop();
  }
}

function isClosed(error: unknown): boolean {
  return error instanceof ColibriError && error.code === 'mailbox-closed';
}

function stoppedWhile(task: string): ColibriError {
  return new ColibriError(
    'shutting-down',
    `expected the run of ${task} to end, got a stop of the app; with a store on disk it goes on at the next start`,
  );
}

/** A refusal, with the stack of whoever awaits it: the code says all of what is inside here. A fault keeps its own. */
function fromHere(error: unknown): unknown {
  if (error instanceof ColibriError && error.code !== 'internal') Error.captureStackTrace(error, fromHere);
  return error;
}
