/** Every YAML block of the documents is a config that loads, without a warning: what is copied must work. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfigText } from '../../src/main/config/index.ts';
import { parseCron } from '../../src/main/schedule/parse/index.ts';
import { builtInHandlers } from '../../src/workers/index.ts';
import { DOCUMENTS, fencedBlocks, readDocument } from './markdown.ts';

const builtIn = new Set(builtInHandlers.map(({ name }) => name));

/** A list of tasks stands for a config with these tasks and a folder of modules. */
function wholeConfig(block: string): string {
  if (!block.startsWith('- ')) return block;
  return `handlers: [./handlers/*.ts]\ntasks:\n${block.replace(/^/gm, '  ')}`;
}

/** The modules that the block takes to be there. */
function modulesOf(block: string): string[] {
  const named = [...block.matchAll(/\bhandler:\s*([\w-]+)/g)].map((match) => match[1]!);
  return [...new Set(named.filter((name) => !builtIn.has(name)))];
}

const blocks = DOCUMENTS.flatMap((path) =>
  fencedBlocks(readDocument(path))
    .filter(({ language }) => language === 'yaml')
    .map(({ text }, index) => ({ name: `${path}, block ${index + 1}`, text })),
);

test('there are blocks to load', () => {
  assert.ok(blocks.length >= 4);
});

for (const { name, text } of blocks) {
  test(`${name} loads`, async () => {
    const modules = modulesOf(text);
    const { config, warnings } = await parseConfigText(wholeConfig(text), {
      file: '/etc/app/colibri.yaml',
      env: {},
      cores: 4,
      builtIns: builtInHandlers,
      parseCron,
      isFolder: () => true,
      listModules: ({ root }) => ({ files: modules.map((one) => `${root}/${one}.ts`), complete: true }),
    });
    assert.deepEqual(warnings, []);
    assert.ok(config.tasks.length > 0);
  });
}
