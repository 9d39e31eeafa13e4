/** What the parts of a campaign share: one folder with a config, the lives of its daemons, and what was found wrong. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Figures } from './figures.ts';
import { CHAIN, type Graph } from './graphs.ts';
import { Inspection } from './inspection.ts';
import { Ledger } from './ledger.ts';
import { Acknowledged } from './load.ts';
import type { Program } from './program.ts';
import { Victim, type VictimOptions } from './victim.ts';
import type { Violation } from './violations.ts';
import { type StoreChoice, type Written, workload } from './workload.ts';

/** From exec to ready, and to the first scheduled run; what others took of the machine is added to it. */
export const RESTART_LIMIT_MS = 3000;

export interface StageOptions {
  /** Gets the state, the ledger and the log of each life. */
  readonly dir: string;
  readonly program: Program;
  readonly store: StoreChoice;
  /** Flows beside the chain. */
  readonly graphs?: readonly Graph[];
  /** Over the config of the workload. */
  readonly config?: Readonly<Record<string, unknown>>;
}

export class Stage {
  readonly dir: string;
  readonly stateDir: string;
  readonly ledger: Ledger;
  readonly acknowledged: Acknowledged;
  readonly graphs: readonly Graph[];
  readonly inspection: Inspection;
  readonly figures = new Figures();
  /** What was found wrong, once each. */
  readonly violations: Violation[] = [];
  /** In which part of the campaign this is, for what is found wrong. */
  where = '';
  readonly #program: Program;
  readonly #told = new Set<string>();
  #lives = 0;

  constructor({ dir, program, store, graphs = [], config = {} }: StageOptions) {
    this.dir = dir;
    this.stateDir = join(dir, 'state');
    this.#program = program;
    mkdirSync(join(dir, 'logs'), { recursive: true });
    mkdirSync(join(dir, 'inbox'), { recursive: true });
    this.ledger = new Ledger(join(dir, 'ledger.txt'));
    this.acknowledged = new Acknowledged(join(dir, 'acknowledged.txt'));
    this.graphs = [CHAIN, ...graphs];
    const written: Written = { ...workload({ ledger: this.ledger.file, store, graphs }), ...config };
    this.inspection = new Inspection({
      tasks: written.tasks.length + written.flows.length,
      graphs: this.graphs,
      ledger: this.ledger,
      acknowledged: this.acknowledged,
      report: (...violations) => this.report(...violations),
    });
    writeFileSync(join(dir, 'colibri.yaml'), JSON.stringify(written, null, 2));
  }

  get lives(): number {
    return this.#lives;
  }

  spawn(options: Pick<VictimOptions, 'preloads' | 'env'> = {}): Victim {
    const logFile = join(this.dir, 'logs', `life-${`${++this.#lives}`.padStart(4, '0')}.log`);
    return new Victim({
      program: this.#program,
      dir: this.dir,
      stateDir: this.stateDir,
      logFile,
      ...options,
    });
  }

  /** Resolves when it is ready, within the time it has. */
  async ready(victim: Victim): Promise<void> {
    const { tookMs, pressureMs } = await victim.ready;
    this.figures.time('exec to ready', tookMs);
    this.figures.time('meanwhile no core was free for', pressureMs);
    const took = victim.line('recovered')?.took_ms;
    if (typeof took === 'number') this.figures.time('of that, in recovery', took);
    if (tookMs > RESTART_LIMIT_MS + pressureMs) {
      this.report({ rule: 'late', text: `ready ${Math.round(tookMs)} ms after exec` });
    }
  }

  /** Rejects with the refusal, or after `timeoutMs`. */
  async trigger(victim: Victim, task: string, payload: object = {}, timeoutMs?: number): Promise<string> {
    const body = { task, payload };
    const options = timeoutMs === undefined ? { body } : { body, timeoutMs };
    const { run } = (await victim.control.post('/trigger', options)) as { readonly run: string };
    this.acknowledged.add(run);
    return run;
  }

  report(...violations: readonly Violation[]): void {
    for (const { rule, text } of violations) {
      if (this.#told.has(`${rule} ${text}`)) continue;
      this.#told.add(`${rule} ${text}`);
      this.violations.push({ rule, text: this.where === '' ? text : `${text} (${this.where})` });
    }
  }
}
