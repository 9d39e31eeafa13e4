/** The client that keeps its connections, as a program has it that asks again and again. */
import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { ControlClient } from '../../src/main/cli/client.ts';
import { tempDir } from '../support/temp-dir.ts';

const ANSWER = ['HTTP/1.1 200 OK', 'Content-Length: 4', '', 'true'].join('\r\n');

test('a kept connection that is ended as it is used again costs no answer; a new one that is ended does', async (t) => {
  const socketPath = join(tempDir(t), 'control.sock');
  let answers = Number.POSITIVE_INFINITY;
  let connections = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    connections++;
    let asked = 0;
    socket.on('error', () => {});
    socket.on('data', () => {
      // Only the first request of each connection is answered.
      if (asked++ === 0 && answers-- > 0) socket.write(ANSWER);
      else socket.destroy();
    });
  });
  server.listen(socketPath);
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const client = new ControlClient(socketPath, { keepsConnections: true });
  for (let request = 0; request < 5; request++) assert.equal(await client.get('/status'), true);
  assert.equal(connections, 5);
  answers = 0;
  await assert.rejects(client.get('/status'), { code: 'no-daemon', message: /ended the connection/ });
});
