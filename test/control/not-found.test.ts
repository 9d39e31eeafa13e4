/** Ids that are not there, or not of the kind that was asked for: the error says where to look. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ColibriError } from '../../src/actors/kernel/index.ts';
import { runtimeView } from '../telemetry/fixtures.ts';
import { controlRig, http } from './fixtures.ts';

const FLOW = 'nightly@1';

const TASK = {
  kind: 'io',
  handler: 'own',
  group: null,
  schedule: null,
  window: null,
  nextAtMs: null,
  missed: 0,
  active: 0,
  queued: 0,
  lastState: null,
  lastEndedAtMs: null,
} as const;

const TASKS = [{ ...TASK, name: 'pull' }, { ...TASK, name: 'nightly', kind: 'flow', handler: '' } as const];

function refuse(): never {
  throw new ColibriError('no-such-run', 'expected the id of a run of a flow, got another');
}

async function messageOf(socketPath: string, method: 'GET' | 'POST', path: string): Promise<string> {
  const { status, document } = await http(socketPath, method, path);
  assert.equal(status, 404);
  return (document as { error: { message: string } }).error.message;
}

test('what is no run of a flow: its runs, the run of a step and its flow, the run of a task, the flows', async (t) => {
  const { socketPath } = await controlRig(t, {
    runs: { 'flow-show': refuse, 'flow-rerun': refuse, view: () => runtimeView({ tasks: TASKS }) },
  });
  const cases: [string, string][] = [
    ['nightly', '`colibri runs --task nightly` lists them'],
    ['nightly@9', '`colibri runs --task nightly` lists them'],
    [
      'nightly@1/mail[0]',
      '`colibri show nightly@1/mail[0]` shows the run of a step, `colibri flow show nightly@1` its flow',
    ],
    ['pull', '`colibri runs --task pull` lists those of this task'],
    ['pull@1', '`colibri show pull@1` shows it'],
    ['nope@1', '`colibri tasks` lists the flows, `colibri runs --task FLOW` their runs'],
  ];
  for (const [run, hint] of cases) {
    const path = `/flows/${encodeURIComponent(run)}`;
    const expected = `expected the id of a run of a flow, got another; ${hint}`;
    assert.equal(await messageOf(socketPath, 'GET', path), expected);
    assert.equal(await messageOf(socketPath, 'POST', `${path}/rerun`), expected);
  }
});

test('a step with a list has runs of its items alone: show and cancel name them', async (t) => {
  const step = (name: string, each: number | null, size: number | null) => ({
    step: name,
    each,
    items: size === null ? null : { size },
  });
  const steps = [
    step('pull', null, null),
    step('mail', 2, 9),
    step('one', 1, 1),
    step('none', 1, 0),
    step('later', 1, null),
  ];
  const { socketPath } = await controlRig(t, {
    runs: {
      'show-live': () => null,
      cancel: refuse,
      'flow-show': ({ run }: { run: string }) => (run === FLOW ? { steps } : refuse()),
    },
    store: { show: () => null },
  });
  const list = 'which is a step with a list';
  const cases: [string, string][] = [
    ['mail', `, ${list}; its runs are \`${FLOW}/mail[0]\` to \`${FLOW}/mail[8]\``],
    ['one', `, ${list}; its runs are \`${FLOW}/one[0]\``],
    ['none', `, ${list}; \`colibri flow show ${FLOW}\` shows it`],
    ['later', `, ${list}; \`colibri flow show ${FLOW}\` shows it`],
    ['pull', '; `colibri runs` lists the last ones'],
    ['mail[12]', '; `colibri runs` lists the last ones'],
  ];
  for (const [name, hint] of cases) {
    const path = `/runs/${encodeURIComponent(`${FLOW}/${name}`)}`;
    const expected = `expected the id of a known run, got "${FLOW}/${name}"${hint}`;
    assert.equal(await messageOf(socketPath, 'GET', path), expected);
    assert.equal(await messageOf(socketPath, 'POST', `${path}/cancel`), expected);
  }
  assert.match(await messageOf(socketPath, 'GET', '/runs/nope%401%2Fmail'), /`colibri runs` lists/);
});
