/**
 * HTTP over the control socket: JSON in, JSON out, errors as `{ error: { code, message } }` with a fitting
 * status. Bounded: 1 MiB of body, 64 connections, 10 s to send a request, 5 s between two on a connection. A program that
 * asks for much keeps its connections: a new one costs this thread more than what is asked.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ColibriError, type ErrorCode, toErrorData } from '../kernel/index.ts';
import { errorDocument } from './documents.ts';
import { parseUser, USER_HEADER } from './requests.ts';
import type { Route, RouteContext } from './route.ts';
import { ConfigRefused, ROUTES } from './routes.ts';
import { type BoundSocket, bindSocket } from './socket-file.ts';

export const MAX_BODY_BYTES = 1024 * 1024;
export const MAX_CONNECTIONS = 64;
/** With more than so many open, each is closed after its answer: there is always a place for a command. */
const KEPT_CONNECTIONS = 48;
const REQUEST_MS = 10_000;
const KEEP_ALIVE_MS = 5000;

export interface ControlServerOptions {
  readonly socketPath: string;
  readonly routes: RouteContext;
  readonly requestMs?: number;
}

export class ControlServer {
  readonly #options: ControlServerOptions;
  #server: Server | null = null;
  #connections = 0;
  #socket: BoundSocket | null = null;

  constructor(options: ControlServerOptions) {
    this.#options = options;
  }

  /** Idempotent. Rejects with `state-dir-held` or `listen-failed`. */
  async open(): Promise<void> {
    if (this.#server !== null) return;
    const requestMs = this.#options.requestMs ?? REQUEST_MS;
    const server = process.getBuiltinModule('node:http').createServer(
      {
        maxHeaderSize: 8 * 1024,
        requestTimeout: requestMs,
        headersTimeout: requestMs,
        keepAliveTimeout: KEEP_ALIVE_MS,
        connectionsCheckingInterval: Math.max(100, Math.trunc(requestMs / 4)),
      },
      (request, response) => void this.#answer(request, response),
    );
    server.maxConnections = MAX_CONNECTIONS;
    server.on('connection', (socket: Socket) => {
      this.#connections++;
      socket.once('close', () => this.#connections--);
    });
    this.#socket = await bindSocket(server, this.#options.socketPath);
    this.#server = server;
  }

  /** Cuts open connections: whoever waits for a run learns that the daemon is going. Idempotent. */
  async close(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server === null) return;
    this.#socket?.remove();
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => response.destroy());
    request.on('error', () => response.destroy());
    const isCrowded = (): boolean => this.#connections > KEPT_CONNECTIONS;
    try {
      const url = new URL(request.url ?? '/', 'http://control');
      const { route, run } = routeOf(request.method ?? 'GET', url.pathname, response);
      const user = parseUser(request.headers[USER_HEADER]);
      const body = route.method === 'GET' ? null : await readJson(request);
      const asked = { query: url.searchParams, run, body, user };
      const document = await route.answer(asked, this.#options.routes);
      if (isCrowded()) response.setHeader('Connection', 'close');
      send(response, 200, document);
    } catch (error) {
      const data = toErrorData(error, 'internal');
      const status = error instanceof HttpProblem ? error.status : statusOf(data.code);
      const problems = error instanceof ConfigRefused ? { problems: error.problems } : {};
      send(response, status, { ...problems, error: errorDocument(data) });
      // What is left of a body that is too large is not read.
      if (status === 413) response.once('finish', () => request.destroy());
    }
  }
}

/** An error of HTTP itself, with its own status. */
class HttpProblem extends ColibriError {
  readonly status: number;

  constructor(status: number, message: string) {
    super('message-invalid', message);
    this.status = status;
  }
}

const PATTERNS = ROUTES.map((route) => ({ route, segments: route.path.split('/') }));

function routeOf(method: string, path: string, response: ServerResponse): { route: Route; run: string } {
  const allowed: string[] = [];
  const given = path.split('/');
  for (const { route, segments } of PATTERNS) {
    const run = matchPath(segments, given);
    if (run === null) continue;
    if (route.method === method) return { route, run };
    allowed.push(route.method);
  }
  if (allowed.length === 0) throw new HttpProblem(404, `expected a known path, got ${path.slice(0, 200)}`);
  response.setHeader('Allow', allowed.join(', '));
  throw new HttpProblem(405, `expected the method ${allowed.join(' or ')} for ${path}, got ${method}`);
}

/** The run id in the path, '' where the pattern has none; null where the path is another. */
function matchPath(wanted: readonly string[], given: readonly string[]): string | null {
  if (wanted.length !== given.length) return null;
  let run = '';
  for (let index = 0; index < wanted.length; index++) {
    if (wanted[index] === ':run') run = decoded(given[index]!);
    else if (wanted[index] !== given[index]) return null;
  }
  return run;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new HttpProblem(400, `expected a percent-encoded run id, got ${segment.slice(0, 200)}`);
  }
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const tooLarge = (): HttpProblem =>
    new HttpProblem(413, `expected a body of at most ${MAX_BODY_BYTES} bytes, got more`);
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  const pieces: Buffer[] = [];
  let length = 0;
  await new Promise<void>((resolve, reject) => {
    request.on('data', (piece: Buffer) => {
      length += piece.length;
      if (length > MAX_BODY_BYTES) {
        request.pause();
        reject(tooLarge());
      } else pieces.push(piece);
    });
    request.on('end', resolve);
    request.on('close', () => reject(new HttpProblem(400, 'expected a whole body, got a part of it')));
  });
  if (length === 0) return null;
  const text = Buffer.concat(pieces).toString('utf8');
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new HttpProblem(400, `expected a body of JSON, got text that is none: ${String(error)}`);
  }
}

function send(response: ServerResponse, status: number, document: unknown): void {
  if (response.destroyed || response.headersSent) return;
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(`${JSON.stringify(document)}\n`);
}

function statusOf(code: ErrorCode): number {
  switch (code) {
    case 'no-such-run':
    case 'no-such-task':
    case 'no-such-handler':
      return 404;
    case 'input-invalid':
    case 'message-invalid':
    case 'usage':
      return 400;
    case 'overlap-refused':
    case 'rerun-refused':
    case 'restart-needed':
    case 'file-failed':
    case 'store-failed':
      return 409;
    case 'config-invalid':
      return 422;
    case 'queue-full':
      return 429;
    case 'mailbox-full':
    case 'mailbox-closed':
    case 'shutting-down':
    case 'store-unavailable':
      return 503;
    case 'ask-timeout':
      return 504;
    default:
      return 500;
  }
}
