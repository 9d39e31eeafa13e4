/**
 * Everything that the daemon says: log lines and metrics. Lives on the service thread. It only listens: no part
 * waits for it but at `open` and `flush`, and nothing that a disk, a pipe or a watcher does comes back to the
 * sender of a message.
 *
 * Under a flood (`RUN_LINES_PER_SECOND` like lines of a task, `LOG_LINES_PER_SECOND` of a handler's own) lines
 * are counted and told once a second in a summary line; the counters of the metrics see every event.
 */
import type { ActorContext, ActorDefinition, Answer, Behaviour, Clock, EnvelopeOf } from '../kernel/index.ts';
import { assertNever, LoopDelaySampler } from '../kernel/index.ts';
import { MAILBOXES } from '../mailboxes.ts';
import type { LogRecord, RunsMessages, TelemetryMessages } from '../protocol.ts';
import type { RunEvent } from '../records.ts';
import type { RuntimeView } from '../views/runtime-view.ts';
import { DeadLetterAlarm } from './dead-letter-alarm.ts';
import { type LineDevice, LineWriter } from './line-writer.ts';
import { createDescriptorDevice } from './log-device.ts';
import { LogFile } from './log-file.ts';
import { Logger, type LogThreshold } from './logger.ts';
import type { Scrape } from './metric-samples.ts';
import { Metrics } from './metrics.ts';
import { type MetricsAddress, MetricsServer } from './metrics-server.ts';
import { RunCounters } from './run-counters.ts';
import { runFields, runLine } from './run-lines.ts';
import { warnOnStderr } from './stderr-warning.ts';
import { Summaries } from './summaries.ts';

export const RUN_LINES_PER_SECOND = 20;
export const LOG_LINES_PER_SECOND = 100;
/** Stands for all lines that modules printed. */
const PRINTED = 'more printed lines';
const VIEW_TIMEOUT_MS = 1000;
const FLUSH_MS = 100;
const FLUSH_PRETTY_MS = 20;
/** Less than the daemon gives a thread to end: what is left then is written at once, as far as it goes. */
export const FLUSH_TIMEOUT_MS = 250;
const WARN_AGAIN_MS = 60_000;

export interface TelemetryOptions {
  readonly log: {
    readonly level: LogThreshold;
    /** Null: the standard output. */
    readonly file: string | null;
    readonly maxBytes: number;
    readonly keepDays: number;
    /** Readable lines for a terminal in place of JSON; never in a file. */
    readonly pretty: boolean;
    readonly colours: boolean;
  };
  readonly metrics: MetricsAddress | null;
  readonly configVersion: string | null;
  /** Names of all tasks: the only values of the label `task`. */
  readonly tasks: readonly string[];
  /** Where lines go in place of the standard output or the file. */
  readonly device?: LineDevice;
  /** Says that the log cannot be written; default: standard error. */
  readonly warn?: (text: string) => void;
  /** Since the start of the process; default: `process.uptime`. */
  readonly uptimeSeconds?: () => number;
}

export function telemetryActor(options: TelemetryOptions): ActorDefinition<TelemetryMessages> {
  return {
    name: 'telemetry',
    mailbox: MAILBOXES.telemetry,
    expendable: ['log'],
    checks: {
      runs: (body) =>
        typeof body === 'object' && body !== null && 'events' in body && Array.isArray(body.events),
      log: (body) =>
        typeof body === 'object' && body !== null && 'msg' in body && typeof body.msg === 'string',
    },
    create: (context) => new Telemetry(options, context),
  };
}

class Telemetry implements Behaviour<TelemetryMessages> {
  readonly #options: TelemetryOptions;
  readonly #context: ActorContext;
  readonly #clock: Clock;
  readonly #writer: LineWriter;
  readonly #logger: Logger;
  readonly #counters: RunCounters;
  readonly #loopDelay: LoopDelaySampler;
  readonly #metrics = new Metrics();
  readonly #summaries: Summaries;
  readonly #deadLetterAlarm = new DeadLetterAlarm();
  #server: MetricsServer | null = null;
  #address: MetricsAddress | null = null;
  #viewAsked: Promise<RuntimeView> | null = null;
  /** As it was last heard: main may not answer a scrape. */
  #reloadOk = true;
  #warnedAtMono = Number.NEGATIVE_INFINITY;
  readonly #lastWords = (): void => this.#writer.flushSync();

  constructor(options: TelemetryOptions, context: ActorContext) {
    this.#options = options;
    this.#context = context;
    this.#clock = context.clock;
    this.#counters = new RunCounters(options.tasks);
    this.#loopDelay = new LoopDelaySampler(this.#clock);
    const pretty = options.log.pretty && options.log.file === null;
    this.#writer = new LineWriter({
      device: options.device ?? deviceOf(options, this.#clock),
      clock: this.#clock,
      flushMs: pretty ? FLUSH_PRETTY_MS : FLUSH_MS,
      onFailing: (error) => this.#warn(error),
      onResumed: (lost) => this.#log('warn', 'log writing resumed', { lines_dropped: lost }),
    });
    this.#logger = new Logger({
      level: options.log.level,
      pretty,
      colours: options.log.colours,
      write: (line) => this.#writer.write(line),
    });
    this.#summaries = new Summaries(this.#clock, (record) => this.#logger.log(record));
    process.once('exit', this.#lastWords);
  }

  async receive(envelope: EnvelopeOf<TelemetryMessages>, answer: Answer): Promise<void> {
    switch (envelope.kind) {
      case 'runs':
        return this.#runs(envelope.body.events);
      case 'log':
        return this.#record(envelope.body);
      case 'succeeded':
        for (const { task, atMs } of envelope.body.last) this.#counters.succeededBefore(task, atMs);
        return;
      case 'open':
        try {
          answer.ok({ metrics: await this.#open() });
        } catch (error) {
          answer.fail(error);
        }
        return;
      case 'flush':
        this.#summaries.flush();
        await this.#writer.flush(FLUSH_TIMEOUT_MS);
        return answer.ok(null);
      case 'usage': {
        const mailboxes = this.#context.system.mailboxes().map(({ actor, bytes }) => ({ actor, bytes }));
        return answer.ok({ logBytes: this.#writer.bufferBytes, mailboxes });
      }
      default:
        assertNever(envelope, 'message to telemetry');
    }
  }

  async stop(): Promise<void> {
    this.#summaries.flush();
    this.#loopDelay.stop();
    await this.#server?.close();
    this.#server = null;
    await this.#writer.close(FLUSH_TIMEOUT_MS);
    process.off('exit', this.#lastWords);
  }

  async #open(): Promise<MetricsAddress | null> {
    const wanted = this.#options.metrics;
    if (wanted === null || this.#address !== null) return this.#address;
    this.#loopDelay.start();
    const server = new MetricsServer({
      ...wanted,
      contentType: this.#metrics.contentType,
      render: () => this.#render(),
      view: () => this.#view(),
    });
    this.#address = await server.listen();
    this.#server = server;
    this.#log('info', 'metrics listening', { ...this.#address });
    return this.#address;
  }

  /** The hot path: counting alone for most events. */
  #runs(events: readonly RunEvent[]): void {
    const now = this.#clock.monoMs();
    for (const event of events) {
      const counters = this.#counters.count(event);
      if (event.dead === true) this.#deadLetterAlarm.count(counters.task, now);
      if (event.quiet === true) continue;
      const line = runLine(event);
      if (line === undefined || !this.#logger.enabled(line.level)) continue;
      const budget = counters.budget(line.summary);
      if (budget.take(now, RUN_LINES_PER_SECOND)) {
        this.#logger.log({ level: line.level, atMs: event.atMs, msg: line.msg, fields: runFields(event) });
        continue;
      }
      if (this.#summaries.has(budget)) continue;
      const { state } = event;
      this.#summaries.add(budget, (count) =>
        this.#summary(line.level, line.summary, counters.task, count, state),
      );
    }
    const many = this.#deadLetterAlarm.take(now);
    if (many !== null) this.#log('warn', 'many dead letters', { ...many });
  }

  /**
   * A line of the daemon itself (budget by its message), of a handler (budget by its task), or one that a module printed:
   * those share a budget, or each text would have one and together take away what is left for the daemon's own.
   */
  #record(record: LogRecord): void {
    if (!this.#logger.enabled(record.level)) return;
    const task = record.fields?.task;
    const printed = record.fields?.printed === true;
    const budget =
      typeof task === 'string'
        ? this.#counters.of(task).budget('log')
        : this.#summaries.ownBudget(printed ? PRINTED : record.msg);
    if (budget.take(this.#clock.monoMs(), LOG_LINES_PER_SECOND)) {
      this.#logger.log(record);
      return;
    }
    if (this.#summaries.has(budget)) return;
    const about = typeof task === 'string' ? task : undefined;
    const same = printed ? PRINTED : `${record.msg} (more of the same)`;
    const msg = about === undefined ? same : 'more lines of the task';
    this.#summaries.add(budget, (count) => this.#summary(record.level, msg, about, count));
  }

  #summary(
    level: LogRecord['level'],
    msg: string,
    task: string | undefined,
    count: number,
    result?: string,
  ): LogRecord {
    const fields = { task, result: result === 'running' ? undefined : result, count, summarised: true };
    return { level, atMs: this.#clock.wallMs(), msg, fields };
  }

  #log(level: LogRecord['level'], msg: string, fields: Readonly<Record<string, unknown>>): void {
    this.#logger.log({ level, atMs: this.#clock.wallMs(), msg, fields });
  }

  #warn(error: NodeJS.ErrnoException): void {
    const now = this.#clock.monoMs();
    // A disk that is full again and again is told of once a minute, not once a second.
    if (now - this.#warnedAtMono < WARN_AGAIN_MS) return;
    this.#warnedAtMono = now;
    const warn = this.#options.warn ?? warnOnStderr;
    warn(
      `the log cannot be written (${error.code ?? error.message}): work goes on, up to 1 MiB of lines is kept, ` +
        'and writing is tried again every second',
    );
  }

  async *#render(): AsyncGenerator<string> {
    const view = await this.#view().catch(() => null);
    this.#reloadOk = view?.configReloadOk ?? this.#reloadOk;
    const scrape: Scrape = {
      view,
      runs: this.#counters,
      serviceDelay: this.#loopDelay.look(),
      log: { dropped: this.#writer.dropped, summarised: this.#summaries.told, errors: this.#writer.errors },
      configVersion: view === null ? this.#options.configVersion : view.configVersion,
      configReloadOk: this.#reloadOk,
      uptimeSeconds: this.#options.uptimeSeconds?.() ?? process.uptime(),
    };
    yield* this.#metrics.render(scrape);
  }

  /** Watchers that come while an answer is awaited share it, so that they cannot flood main. */
  #view(): Promise<RuntimeView> {
    this.#viewAsked ??= this.#context
      .ref<RunsMessages>('runs')
      .ask('view', null, { timeoutMs: VIEW_TIMEOUT_MS })
      .finally(() => {
        this.#viewAsked = null;
      });
    return this.#viewAsked;
  }
}

function deviceOf(options: TelemetryOptions, clock: Clock): LineDevice {
  const { file, maxBytes, keepDays } = options.log;
  if (file === null) return createDescriptorDevice(1);
  return new LogFile({ path: file, maxBytes, keepDays, clock });
}
