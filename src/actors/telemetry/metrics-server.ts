/**
 * The HTTP server for machines that watch: `/metrics`, `/healthz`, `/readyz`; GET only, few connections, short
 * timeouts. `/healthz` says whether the main thread answers, `/readyz` whether work is taken. `node:http` is
 * loaded when a server is wanted, and not as an ES module, whose facade would load 130 more modules.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ColibriError } from '../kernel/errors.ts';
import type { RuntimeView } from '../views/runtime-view.ts';

export const MAX_CONNECTIONS = 16;
const REQUEST_MS = 5_000;
/** A reader of the page that stands still for so long is let go. */
const STALLED_MS = 10_000;
const HEADER_BYTES = 8 * 1024;

export interface MetricsServerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly contentType: string;
  /** The page, piece by piece. */
  readonly render: () => AsyncIterable<string>;
  /** Main's view; rejects when main does not answer within a second. */
  readonly view: () => Promise<RuntimeView>;
}

export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
}

export class MetricsServer {
  readonly #options: MetricsServerOptions;
  #server: Server | null = null;

  constructor(options: MetricsServerOptions) {
    this.#options = options;
  }

  /** Resolves with the address that is listened on; rejects with `listen-failed`. */
  async listen(): Promise<MetricsAddress> {
    const { host, port } = this.#options;
    const server = process.getBuiltinModule('node:http').createServer(
      {
        maxHeaderSize: HEADER_BYTES,
        requestTimeout: REQUEST_MS,
        headersTimeout: REQUEST_MS,
        keepAliveTimeout: REQUEST_MS,
      },
      (request, response) => void this.#answer(request, response),
    );
    server.maxConnections = MAX_CONNECTIONS;
    server.setTimeout(STALLED_MS);
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(this.#options, error)));
      server.listen({ host, port, exclusive: true }, resolve);
    });
    this.#server = server;
    return { host, port: (server.address() as AddressInfo).port };
  }

  /** Open connections are cut: a watcher must not hold the daemon's exit. */
  async close(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server === null) return;
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => response.destroy());
    if (request.method !== 'GET') {
      response.setHeader('Allow', 'GET');
      return send(response, 405, `expected the method GET, got ${request.method}`);
    }
    const path = (request.url ?? '').split('?', 1)[0];
    try {
      if (path === '/metrics') await this.#metrics(response);
      else if (path === '/healthz') await this.#health(response);
      else if (path === '/readyz') await this.#ready(response);
      else send(response, 404, 'expected /metrics, /healthz or /readyz');
    } catch (error) {
      if (response.headersSent) response.destroy();
      else send(response, 500, reasonOf(error));
    }
  }

  async #metrics(response: ServerResponse): Promise<void> {
    response.writeHead(200, { 'Content-Type': this.#options.contentType });
    for await (const piece of this.#options.render()) {
      if (response.destroyed) return;
      if (!response.write(piece)) await drained(response);
    }
    response.end();
  }

  async #health(response: ServerResponse): Promise<void> {
    try {
      await this.#options.view();
    } catch (error) {
      return send(response, 503, `the main thread does not answer: ${reasonOf(error)}`);
    }
    send(response, 200, 'ok');
  }

  async #ready(response: ServerResponse): Promise<void> {
    let view: RuntimeView;
    try {
      view = await this.#options.view();
    } catch (error) {
      return send(response, 503, `the main thread does not answer: ${reasonOf(error)}`);
    }
    const reason = reasonNotReady(view);
    if (reason === null) send(response, 200, 'ready');
    else send(response, 503, reason);
  }
}

/** Ready is who accepts work: what cannot be kept is not accepted. */
function reasonNotReady({ stopping, readyMs, store }: RuntimeView): string | null {
  if (stopping) return 'stopping';
  if (readyMs === null) return 'starting';
  return store.writable
    ? null
    : `the journal cannot be written: ${store.reason ?? 'the reason is not known'}`;
}

function send(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' });
  response.end(`${text}\n`);
}

/** Resolves when there is room again or the reader is gone. */
function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
  });
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function listenError({ host, port }: MetricsServerOptions, error: NodeJS.ErrnoException): ColibriError {
  const place = `metrics.listen: expected ${host}:${port} to be free to listen on`;
  switch (error.code) {
    case 'EADDRINUSE':
      return new ColibriError(
        'listen-failed',
        `${place}, got EADDRINUSE: another program (or another colibri) has this port; ` +
          'set metrics.listen to another port, to port 0 for any free one, or to null for none',
        { cause: error },
      );
    case 'EACCES':
      return new ColibriError(
        'listen-failed',
        `${place}, got EACCES: ports below 1024 need the right to bind them; set metrics.listen to a port from 1024 up`,
        { cause: error },
      );
    default:
      return new ColibriError(
        'listen-failed',
        `${place}, got ${error.code ?? error.message}: set metrics.listen to an address of this machine, such as 127.0.0.1:9464`,
        { cause: error },
      );
  }
}
