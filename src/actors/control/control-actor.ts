/**
 * The control socket as an actor: opened when the daemon is ready to be asked, closed when it stops. Requests
 * are not messages: each is answered on its own by asking the actors that know.
 */
import type {
  ActorContext,
  ActorDefinition,
  ActorRef,
  Answer,
  Behaviour,
  Clock,
  EnvelopeOf,
} from '../kernel/index.ts';
import { assertNever, toErrorData } from '../kernel/index.ts';
import { MAILBOXES } from '../mailboxes.ts';
import type {
  ControlMessages,
  LogRecord,
  RunsMessages,
  StoreMessages,
  TelemetryMessages,
} from '../protocol.ts';
import type { AuditEntry } from '../records.ts';
import { ControlServer } from './control-server.ts';
import { refuseIfAnswered } from './socket-file.ts';

export interface ControlOptions {
  /** Absolute; its folder exists. */
  readonly socketPath: string;
  /** Begins the orderly stop of the daemon; called by `POST /stop`. Must return at once. */
  readonly onStop: () => void;
}

export function controlActor(options: ControlOptions): ActorDefinition<ControlMessages> {
  return {
    name: 'control',
    mailbox: MAILBOXES.control,
    create: (context) => new Control(options, context),
  };
}

class Control implements Behaviour<ControlMessages> {
  readonly #server: ControlServer;
  readonly #socketPath: string;
  readonly #clock: Clock;
  readonly #telemetry: ActorRef<TelemetryMessages>;
  readonly #store: ActorRef<StoreMessages>;

  constructor(options: ControlOptions, { ref, clock }: ActorContext) {
    this.#clock = clock;
    this.#socketPath = options.socketPath;
    this.#telemetry = ref<TelemetryMessages>('telemetry');
    this.#store = ref<StoreMessages>('store');
    this.#server = new ControlServer({
      socketPath: options.socketPath,
      routes: {
        runs: ref<RunsMessages>('runs'),
        store: this.#store,
        wallMs: () => clock.wallMs(),
        onStop: options.onStop,
        audit: (entry) => this.#audit(entry),
      },
    });
  }

  async receive(envelope: EnvelopeOf<ControlMessages>, answer: Answer): Promise<void> {
    try {
      switch (envelope.kind) {
        case 'probe':
          await refuseIfAnswered(this.#socketPath);
          break;
        case 'open':
          await this.#server.open();
          break;
        case 'close':
          await this.#server.close();
          break;
        default:
          assertNever(envelope, 'message to control');
      }
      answer.ok(null);
    } catch (error) {
      answer.fail(error);
    }
  }

  stop(): Promise<void> {
    return this.#server.close();
  }

  /** Waited for: so no more entries wait for room in the store's mailbox than there are connections. */
  async #audit(entry: AuditEntry): Promise<void> {
    const { actor: user, action: command, fields } = entry;
    // Of a reload, main writes the line, with what it found.
    if (command !== 'reload') this.#log('info', 'command', { command, user, ...fields });
    try {
      await this.#store.tell('audit', entry);
    } catch (error) {
      const { code, message } = toErrorData(error, 'internal');
      this.#log('warn', 'command is missing in the audit trail', { command, user, error: { code, message } });
    }
  }

  #log(level: LogRecord['level'], msg: string, fields: NonNullable<LogRecord['fields']>): void {
    this.#telemetry.tryTell('log', { level, atMs: this.#clock.wallMs(), msg, fields });
  }
}
