/**
 * The daemon as the commands see it: one JSON request over the control socket. An error answer is thrown as the
 * error it was; no answer at all is `no-daemon`.
 */
import type { Agent, IncomingMessage } from 'node:http';
import { type ErrorDocument, USER_HEADER, withSocketAddress } from '../../actors/control/index.ts';
import { ColibriError, ERROR_CODES, type ErrorCode } from '../../actors/kernel/index.ts';
import type { ConfigProblem } from './io.ts';

/** Runs and their results are bounded; an answer past this is not ours. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const ANSWER_MS = 10_000;

export interface RequestOptions {
  readonly body?: unknown;
  /** Null: as long as it takes. Default: 10 s. */
  readonly timeoutMs?: number | null;
  readonly signal?: AbortSignal;
}

export interface ControlClientOptions {
  /** Who asks, for the audit trail; default: not said. */
  readonly user?: string | null;
  /** For who asks again and again; default: each request has a connection of its own. */
  readonly keepsConnections?: boolean;
}

export class ControlClient {
  readonly #socketPath: string;
  readonly #user: string | null;
  readonly #agent: Agent | false;

  constructor(socketPath: string, { user = null, keepsConnections = false }: ControlClientOptions = {}) {
    this.#socketPath = socketPath;
    this.#user = user;
    const http = process.getBuiltinModule('node:http');
    this.#agent = keepsConnections && new http.Agent({ keepAlive: true });
  }

  get(
    path: string,
    query: Readonly<Record<string, string | null>> = {},
    options: Omit<RequestOptions, 'body'> = {},
  ): Promise<unknown> {
    const given = Object.entries(query).flatMap(([key, value]) => (value === null ? [] : [[key, value]]));
    const text = new URLSearchParams(given).toString();
    return this.#request('GET', text === '' ? path : `${path}?${text}`, options);
  }

  post(path: string, options: RequestOptions = {}): Promise<unknown> {
    return this.#request('POST', path, options);
  }

  async #request(method: string, path: string, options: RequestOptions): Promise<unknown> {
    const answer = await this.#exchange(method, path, options).catch((error: unknown) => {
      throw error instanceof ColibriError ? error : noDaemon(this.#socketPath, error);
    });
    const document = parseAnswer(answer.text);
    if (answer.status === 200) return document;
    throw errorOf(document, answer.status);
  }

  #exchange(
    method: string,
    path: string,
    options: RequestOptions,
  ): Promise<{ status: number; text: string }> {
    const body = options.body === undefined ? '' : JSON.stringify(options.body);
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      ...(this.#user === null ? {} : { [USER_HEADER]: this.#user }),
    };
    return withSocketAddress(this.#socketPath, (socketPath) => {
      return new Promise((resolve, reject) => {
        const request = process.getBuiltinModule('node:http').request(
          {
            socketPath,
            method,
            path,
            headers,
            agent: this.#agent,
            ...(options.signal ? { signal: options.signal } : {}),
          },
          (response) => readAnswer(response).then(resolve, reject),
        );
        request.on('error', (error: NodeJS.ErrnoException) => {
          // The daemon ends a kept connection that is idle, perhaps in the moment in which it is used again: nothing was asked.
          const isStale = request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
          if (isStale) this.#exchange(method, path, options).then(resolve, reject);
          else reject(error);
        });
        const timeoutMs = options.timeoutMs === undefined ? ANSWER_MS : options.timeoutMs;
        if (timeoutMs !== null) {
          request.setTimeout(timeoutMs, () => request.destroy(new Error(`no answer within ${timeoutMs} ms`)));
        }
        request.end(body);
      });
    });
  }
}

async function readAnswer(response: IncomingMessage): Promise<{ status: number; text: string }> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > MAX_ANSWER_BYTES) throw new Error(`the answer is longer than ${MAX_ANSWER_BYTES} bytes`);
    pieces.push(piece);
  }
  return { status: response.statusCode ?? 0, text: Buffer.concat(pieces).toString('utf8') };
}

function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ColibriError('internal', 'expected a JSON answer of the daemon, got text that is none', {
      cause: error,
    });
  }
}

function errorOf(document: unknown, status: number): ColibriError {
  const error = (document as { error?: Partial<ErrorDocument> } | null)?.error;
  const code = error?.code;
  // A daemon of another version may know codes that this one does not.
  const known =
    typeof code === 'string' && Object.hasOwn(ERROR_CODES, code) ? (code as ErrorCode) : 'internal';
  const message = error?.message ?? `the daemon answered with status ${status}`;
  const problems = (document as { problems?: readonly ConfigProblem[] } | null)?.problems;
  if (!Array.isArray(problems)) return new ColibriError(known, message);
  const lines = problems.map(({ file, line, column, message: what }) => `${file}:${line}:${column}: ${what}`);
  return Object.assign(new ColibriError(known, [...lines, message].join('\n')), { problems });
}

function noDaemon(socketPath: string, error: unknown): ColibriError {
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'ENOENT':
    case 'ECONNREFUSED':
      return new ColibriError(
        'no-daemon',
        `expected a daemon to answer at ${socketPath}, got ${code}; start one with \`colibri run\`, or name its config with --config`,
      );
    case 'EACCES':
    case 'EPERM':
      return new ColibriError(
        'no-daemon',
        `expected to be let in at ${socketPath}, got ${code}; only the user that runs the daemon may control it`,
      );
    case 'ECONNRESET':
    case 'EPIPE':
      return new ColibriError(
        'no-daemon',
        `expected an answer of the daemon at ${socketPath}, got ${code}: it ended the connection, as it does when it stops, and where it has 64 already; try again`,
      );
    default:
      return new ColibriError(
        'no-daemon',
        `expected a daemon to answer at ${socketPath}, got ${code ?? message}`,
      );
  }
}
