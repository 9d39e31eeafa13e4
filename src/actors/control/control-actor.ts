/**
 * The control socket as an actor: opened when the daemon is ready to be asked, closed when it stops. Requests
 * are not messages: each is answered on its own by asking the actors that know.
 */
import type { ActorContext, ActorDefinition, Answer, Behaviour, EnvelopeOf } from '../kernel/index.ts';
import { assertNever } from '../kernel/index.ts';
import {
  type ControlMessages,
  MAILBOXES,
  type RunsMessages,
  type StoreMessages,
  type TelemetryMessages,
} from '../protocol.ts';
import { ControlServer } from './control-server.ts';

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

  constructor(options: ControlOptions, { ref, clock }: ActorContext) {
    const telemetry = ref<TelemetryMessages>('telemetry');
    this.#server = new ControlServer({
      socketPath: options.socketPath,
      routes: {
        runs: ref<RunsMessages>('runs'),
        store: ref<StoreMessages>('store'),
        wallMs: () => clock.wallMs(),
        onStop: options.onStop,
        audit(command, fields) {
          const record = {
            level: 'info',
            atMs: clock.wallMs(),
            msg: 'command',
            fields: { command, ...fields },
          } as const;
          telemetry.tryTell('log', record);
        },
      },
    });
  }

  async receive(envelope: EnvelopeOf<ControlMessages>, answer: Answer): Promise<void> {
    try {
      switch (envelope.kind) {
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
}
