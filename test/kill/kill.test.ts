/** The short form of `npm run test:kill`. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Campaign, RoundKind } from './campaign.ts';
import { buildProgram } from './program.ts';
import { Random } from './random.ts';

const { Kill, Term, Service } = RoundKind;

test('a daemon that is killed, stopped and loses its service thread under load: nothing accepted is lost, nothing done twice', {
  timeout: 110_000,
}, async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const dir = mkdtempSync(join(tmpdir(), 'colibri-kill-'));
  const campaign = new Campaign({
    dir,
    program: await buildProgram(join(dir, 'installed')),
    store: { kind: 'sqlite', durability: 'process' },
    random: new Random(seed),
    rounds: [Kill, Service, Term],
    settleEvery: 3,
    latestMs: 500,
  });
  await campaign.run();
  const { figures, violations } = campaign.stage;
  const told = figures.lines().join('\n');
  assert.deepEqual(violations, [], `seed ${seed}, evidence in ${dir}\n${told}`);
  // Where nothing was accepted or cut, nothing was tried.
  assert.ok(figures.of('triggers acknowledged') > 0, told);
  rmSync(dir, { recursive: true, force: true });
});
