/**
 * `npm run test:kill -- [--rounds N] [--seed N] [--only PART,…] [--store sqlite|memory] [--durability process|power]
 * [--keep]`: a daemon under load, killed again and again at random moments; what it accepted must be there each time.
 *
 * Exit 0 where all held; 1 where something did not, with the evidence kept in a folder that is named; 2 wrong usage.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Campaign, RoundKind } from './campaign.ts';
import { diskTrouble } from './disk.ts';
import { storeFaults } from './faults.ts';
import { buildProgram, type Program } from './program.ts';
import { Random } from './random.ts';
import { measureRecovery } from './recovery.ts';
import type { Stage } from './stage.ts';
import type { StoreChoice } from './workload.ts';

const PARTS = ['rounds', 'faults', 'disk', 'recovery'] as const;
type Part = (typeof PARTS)[number];

/** Of the rounds: a SIGTERM every so many, the loss of the service thread every so many. */
const TERM_EVERY = 8;
const SERVICE_EVERY = 15;
const SETTLE_EVERY = 10;
const LATEST_MS = 1500;
/** Violations on the terminal; the file has them all. */
const MOST_TOLD = 20;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '200' },
    seed: { type: 'string', default: `${Math.floor(Math.random() * 2 ** 31)}` },
    only: { type: 'string', default: PARTS.join(',') },
    store: { type: 'string', default: 'sqlite' },
    durability: { type: 'string', default: 'process' },
    keep: { type: 'boolean', default: false },
  },
});

const rounds = wholeNumber('rounds', values.rounds);
const seed = wholeNumber('seed', values.seed);
const parts = values.only.split(',').map((name) => oneOf('only', name, PARTS));
const store: StoreChoice = {
  kind: oneOf('store', values.store, ['sqlite', 'memory']),
  durability: oneOf('durability', values.durability, ['process', 'power']),
};

const dir = mkdtempSync(join(tmpdir(), 'colibri-kill-'));
console.log(`seed ${seed}, store ${store.kind}, durability ${store.durability}, in ${dir}`);
const program = await buildProgram(join(dir, 'installed'));
let count = 0;
for (const part of parts) {
  console.log(`\n${part}`);
  for (const stage of await runPart(part, program).catch(brokenOff)) {
    for (const line of stage.figures.lines()) console.log(`  ${line}`);
    tell(stage);
    count += stage.violations.length;
  }
}
console.log(count === 0 ? '\nnothing lost, nothing done twice' : `\n${count} violations; evidence in ${dir}`);
if (count === 0 && !values.keep) rmSync(dir, { recursive: true, force: true });
process.exitCode = count === 0 ? 0 : 1;

/** Of a part that could not go on at all: the others are still of use. */
function brokenOff(error: unknown): readonly Stage[] {
  count++;
  console.log(`  broken off: ${(error as Error).stack}`);
  return [];
}

function tell({ dir, violations }: Stage): void {
  if (violations.length === 0) return;
  const file = join(dir, 'violations.txt');
  const lines = violations.map(({ rule, text }) => `${rule.padEnd(20)} ${text}`);
  writeFileSync(file, `${lines.join('\n')}\n`);
  console.log(`  ${lines.length} violations:\n    ${lines.slice(0, MOST_TOLD).join('\n    ')}`);
  if (lines.length > MOST_TOLD) console.log(`    … all in ${file}`);
}

async function runPart(part: Part, program: Program): Promise<readonly Stage[]> {
  const folder = join(dir, part);
  mkdirSync(folder);
  const random = new Random(seed);
  switch (part) {
    case 'rounds':
      return [await runRounds(folder, program, random)];
    case 'faults':
      return [await storeFaults({ dir: folder, program, store, random })];
    case 'disk':
      return diskTrouble({ dir: folder, program, store });
    case 'recovery':
      return [await measureRecovery({ dir: folder, program, store })];
  }
}

async function runRounds(folder: string, program: Program, random: Random): Promise<Stage> {
  const campaign = new Campaign({
    dir: folder,
    program,
    store,
    random,
    rounds: kinds(rounds),
    settleEvery: SETTLE_EVERY,
    latestMs: LATEST_MS,
    onProgress: (text) => console.log(`  ${text}`),
  });
  try {
    await campaign.run();
  } catch (error) {
    // What was found until then is told, and this with it.
    campaign.stage.report({ rule: 'broken-off', text: `${(error as Error).stack}` });
  }
  return campaign.stage;
}

/** `kills` of kill -9, and others between them. */
function kinds(kills: number): RoundKind[] {
  const list: RoundKind[] = [];
  for (let kill = 1; kill <= kills; kill++) {
    list.push(RoundKind.Kill);
    if (kill % TERM_EVERY === 0) list.push(RoundKind.Term);
    if (kill % SERVICE_EVERY === 0) list.push(RoundKind.Service);
  }
  return list;
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  return failUsage(`expected --${name} to be a whole number, got ${text}`);
}

function oneOf<T extends string>(name: string, text: string, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === text);
  return found ?? failUsage(`expected --${name} to be one of ${allowed.join(', ')}, got ${text}`);
}

function failUsage(message: string): never {
  console.error(`test:kill: ${message}`);
  process.exit(2);
}
