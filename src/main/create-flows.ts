/** The flows of the config, over the runs of their steps and what the store has of them. */
import type { Flows, FlowsOptions } from '../actors/flow/index.ts';
import { type ActorRef, ColibriError } from '../actors/kernel/index.ts';
import type { StoreMessages } from '../actors/protocol.ts';
import type { Config } from './config/index.ts';

export interface FlowParts extends Pick<FlowsOptions, 'clock' | 'runs' | 'log'> {
  readonly config: Config;
  readonly store: ActorRef<StoreMessages>;
  /** Given where the config has flows: their code is loaded for them alone. */
  readonly createFlows?: ((options: FlowsOptions) => Flows) | null;
}

/** Null: the config has none. */
export function createFlows({ config, store, createFlows: create, ...parts }: FlowParts): Flows | null {
  if (config.flows.length === 0) return null;
  if (create == null) throw new ColibriError('internal', 'expected createFlows with a config that has flows');
  return create({
    ...parts,
    flows: config.flows,
    tasks: new Set(config.tasks.map(({ name }) => name)),
    store: {
      steps: (place) => store.ask('flow-steps', place),
      results: async (of, mostLength) => {
        const most = mostLength === undefined ? {} : { mostLength };
        return (await store.ask('results', { runs: of, ...most })).results;
      },
      kept: async (of) => (await store.ask('kept-results', { runs: of })).runs,
      list: (filter) => store.ask('list', filter),
      show: (run) => store.ask('show', { run }),
      part: (file, path) => store.ask('result-part', { file, path }),
      judge: (file, expectation, lastGood) => store.ask('judge-result', { file, expectation, lastGood }),
    },
    budgetBytes: config.memory.budgetBytes,
    onResolved(letters, run) {
      const entry = { atMs: parts.clock.wallMs(), actor: 'daemon', action: 'dead resolve', fields: { run } };
      for (const target of letters) store.tell('audit', { ...entry, target }).catch(() => {});
    },
  });
}
