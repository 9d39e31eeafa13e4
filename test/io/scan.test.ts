import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { HandlerContext } from '../../src/workers/handler.ts';
import { createScanHandler, type ScanInput, type ScanResult } from '../../src/workers/handlers/scan.ts';
import { tempDir } from '../support/temp-dir.ts';

test('a file that is passed by is logged once, five a scan; each scan counts all of them', async (t) => {
  const root = tempDir(t);
  const bad = (name: string) => Buffer.concat([Buffer.from(`${root}/${name}`), Buffer.from([0xff])]);
  for (let i = 0; i < 7; i++) writeFileSync(bad(`bad${i}`), '');
  mkdirSync(join(root, 'below'));
  const logged: unknown[] = [];
  const context = {
    task: 'a',
    aborted: false,
    log: { warn: (_message: string, fields: { path: string }) => logged.push(fields.path) },
  } as unknown as HandlerContext;
  const handler = createScanHandler(async () => ({ accepted: 0, known: 0, rejected: 0, rest: [] }));
  const scan = handler.handle as (input: ScanInput, context: HandlerContext) => Promise<ScanResult>;
  const counts = [];
  for (let i = 0; i < 3; i++) {
    counts.push([(await scan({ root, pattern: '**/*' }, context)).skipped, logged.length]);
  }
  assert.deepEqual(counts, [
    [7, 5],
    [7, 7],
    [7, 7],
  ]);
  writeFileSync(bad('bad9'), '');
  await scan({ root, pattern: '**/*' }, context);
  assert.equal(logged.length, 8);
});
