import type { FlowDocument } from '../../../actors/control/index.ts';
import { ColibriError, didYouMean } from '../../../actors/kernel/index.ts';
import { forgottenText } from '../../../actors/views/forgotten-text.ts';
import type { AgainBehind } from '../../../actors/views/run-view.ts';
import type { Config, FlowSpec } from '../../config/config.ts';
import { checkPositionals, usage } from '../args.ts';
import type { Command, CommandContext } from '../command.ts';
import { ExitCode } from '../exit-codes.ts';
import { type DrawnFlow, drawnOf, drawnOfConfig, flowText } from '../render/flow.ts';
import { readPayload, sendTrigger } from './trigger.ts';

const ACTIONS = ['run', 'show', 'rerun', 'cancel'] as const;
type Action = (typeof ACTIONS)[number];

/** The flags of an action; others are told. */
const FLAGS: Readonly<Record<Action, readonly string[]>> = {
  run: ['payload', 'wait', 'force'],
  show: ['dot', 'mermaid'],
  rerun: ['from', 'failed'],
  cancel: [],
};

/** What is named after an action. */
const TARGETS: Readonly<Record<Action, string>> = {
  run: 'FLOW',
  show: 'FLOW or RUN',
  rerun: 'RUN',
  cancel: 'RUN',
};

export const flowCommand: Command = {
  name: 'flow',
  summary: 'run, show, run again or cancel a flow',
  usage: 'run FLOW | show FLOW|RUN | rerun RUN | cancel RUN',
  about:
    'run makes a run of the flow and prints its id. show draws its steps, stage by stage, with their states and how long ' +
    'they took; of the name of a flow, the steps that the config has. rerun makes a new run with the same payload: of the ' +
    'whole flow, from a step, or of the failed steps only; the others keep their results. cancel ends the steps that run ' +
    'and begins no more. `runs`, `show`, `dead` and `trigger` know runs of flows as well.',
  flags: [
    { name: 'payload', value: 'JSON|@FILE|-', summary: 'run: what the steps may refer to' },
    { name: 'wait', summary: 'run: wait for the end and print it' },
    { name: 'force', summary: 'run: although the flow is running already' },
    { name: 'from', value: 'STEP', summary: 'rerun: this step, all behind it, and what did not succeed' },
    { name: 'failed', summary: 'rerun: what did not succeed, and all behind it' },
    { name: 'dot', summary: 'show: as a graph for Graphviz, in place of --json' },
    { name: 'mermaid', summary: 'show: as a graph for Mermaid, in place of --json' },
  ],
  positionals: { name: 'run, show, rerun or cancel', min: 1, max: Number.POSITIVE_INFINITY },
  examples: [
    [`colibri flow run daily --payload '{"day":"2026-12-24"}'`, 'with what its steps refer to'],
    ['colibri flow show daily --mermaid', 'the graph, for a document'],
    ['colibri flow rerun RUN --failed', 'when what was wrong is mended'],
  ],
  run(context) {
    const [given = '', ...targets] = context.args.positionals;
    const action = ACTIONS.find((name) => name === given);
    if (action === undefined) {
      const hint = didYouMean(given, ACTIONS);
      throw usage(`expected run, show, rerun or cancel, got ${JSON.stringify(given)}${hint}`);
    }
    checkPositionals(targets, { name: `${TARGETS[action]} after \`flow ${action}\``, min: 1, max: 1 });
    for (const { name } of flowCommand.flags) {
      if (!context.args.on(name) || FLAGS[action].includes(name)) continue;
      const others = ACTIONS.filter((one) => FLAGS[one].includes(name)).join(', ');
      throw usage(`--${name}: expected flow ${others}, got flow ${action}`);
    }
    return ACT[action](context, targets[0]!);
  },
};

const ACT: Readonly<Record<Action, (context: CommandContext, target: string) => Promise<number>>> = {
  async run(context, flow) {
    const payload = await readPayload(context);
    const { config } = await context.deps.loadConfig(await context.configFile());
    expectFlow(flow, config, `\`colibri trigger ${flow}\` runs it`);
    const body = {
      task: flow,
      force: context.args.on('force'),
      ...(payload === undefined ? {} : { payload }),
    };
    return sendTrigger(context, body);
  },

  async show(context, target) {
    const { args } = context;
    const forms = ['dot', 'mermaid', 'json'].filter((name) => args.on(name)).map((name) => `--${name}`);
    if (forms.length > 1) {
      throw usage(`expected one of --dot, --mermaid and --json, got ${forms.join(' and ')}`);
    }
    if (target.includes('@')) {
      const client = await context.client();
      const document = (await client.get(`/flows/${encodeURIComponent(target)}`)) as FlowDocument;
      return print(context, document, drawnOf(document, context.io.nowMs()));
    }
    const { config } = await context.deps.loadConfig(await context.configFile());
    const flow = expectFlow(target, config, `\`colibri runs --task ${target}\` lists its runs`);
    const drawn = drawnOfConfig(flow);
    const steps = drawn.steps.map(({ task, dependsOn }) => ({ step: task, depends_on: dependsOn }));
    return print(context, { flow: flow.name, steps }, drawn);
  },

  async rerun(context, run) {
    const { args } = context;
    const from = args.text('from');
    if (from !== null && args.on('failed')) throw usage('expected one of --from and --failed, got both');
    const body = from !== null ? { from } : args.on('failed') ? { failed: true } : {};
    const client = await context.client();
    const path = `/flows/${encodeURIComponent(run)}/rerun`;
    const document = (await client.post(path, { body, timeoutMs: null })) as RerunDocument;
    context.show(document, (answer) => `${answer.run}\n`);
    if (!context.json) {
      for (const one of document.forgotten ?? []) context.io.stderr.write(forgottenLine(one));
      for (const one of document.again_behind ?? []) context.io.stderr.write(behindLine(one));
    }
    return ExitCode.Done;
  },

  async cancel(context, run) {
    const client = await context.client();
    const path = `/runs/${encodeURIComponent(run)}/cancel`;
    const document = (await client.post(path)) as { run: string; state: string };
    context.show(document, ({ state }) => `${state === 'running' ? 'told to stop' : state}\n`);
    return ExitCode.Done;
  },
};

interface RerunDocument {
  readonly run: string;
  readonly forgotten: readonly { readonly step: string; readonly results: number }[];
  readonly again_behind?: readonly AgainBehind[];
}

/** What runs again although it had succeeded: not to be looked for in a list that scripts take. */
function forgottenLine({ step, results }: RerunDocument['forgotten'][number]): string {
  return `${step}: ${forgottenText(results)}\n`;
}

function behindLine({ step, items, behind }: AgainBehind): string {
  const what =
    items === null
      ? 'had succeeded and runs'
      : items === 1
        ? '1 item had succeeded and runs'
        : `${items} items had succeeded and run`;
  return `${step}: ${what} again, as ${behind} is made anew\n`;
}

async function print(context: CommandContext, document: unknown, drawn: DrawnFlow): Promise<number> {
  const part = await context.deps.loadFlows();
  const { args, paint } = context;
  const drawing = args.on('dot') ? 'dot' : args.on('mermaid') ? 'mermaid' : null;
  const form = drawing ?? (context.io.isTTY ? 'lines' : 'rows');
  const text = flowText(drawn, form, { part, paint, columns: context.io.columns });
  if (drawing === null) context.show(document, () => text);
  else context.print(text);
  return ExitCode.Done;
}

/** `ofTask`: what there is for a task that was taken for a flow. */
function expectFlow(
  name: string,
  { flows, tasks }: Pick<Config, 'flows' | 'tasks'>,
  ofTask: string,
): FlowSpec {
  const flow = flows.find((one) => one.name === name);
  if (flow !== undefined) return flow;
  const names = flows.map((one) => one.name);
  const isTask = tasks.some((task) => task.name === name);
  const remedy = isTask
    ? `, which is a task; ${ofTask}`
    : didYouMean(name, names) || '; `colibri tasks` lists them, with the kind flow';
  throw new ColibriError(
    'no-such-task',
    `expected the name of a flow in the config, got ${JSON.stringify(name)}${remedy}`,
  );
}
