/** Preloaded into the processes of the tests, and with it on each of their threads: takes the copies of strip-types.ts. */
const { readFileSync } = require('node:fs');
const { registerHooks } = require('node:module') as typeof import('node:module');
const { dirname } = require('node:path');
const { pathToFileURL } = require('node:url');

/** `node_modules/.cache/FOLDER`, and this file in its `scripts/`. */
const copies: string = dirname(__dirname);
const root: string = pathToFileURL(`${copies}/../../..`).href.replace(/\/*$/, '/');

registerHooks({
  load(url, context, nextLoad) {
    if (!url.startsWith(root) || !url.endsWith('.ts')) return nextLoad(url, context);
    let source: Buffer;
    try {
      source = readFileSync(`${copies}/${decodeURI(url.slice(root.length))}`);
    } catch {
      return nextLoad(url, context);
    }
    return { format: 'module', source, shortCircuit: true };
  },
});
