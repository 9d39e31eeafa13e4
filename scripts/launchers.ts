/**
 * What starts colibri from an installed package. `colibri.sh` is the command: it starts the pinned runtime with its
 * flags and is gone. `colibri.js` is for whoever starts a runtime of their own with it.
 */

/** Seconds since boot at the exec of the launcher, for `ready_ms`. */
const STARTED = 'COLIBRI_STARTED';

/**
 * By the kind of the pinned runtime, where the loader of its programs is by their ABI. Without it the system cannot start
 * them: they are for the other kind of machine, copied along with a folder, or the system is musl's. A shell that fails to
 * become another program ends, so that has to be known before.
 */
const LOADERS: Readonly<Record<string, string>> = {
  x64: '/lib64/ld-linux-x86-64.so.2',
  arm64: '/lib/ld-linux-aarch64.so.1',
};

/**
 * The pinned runtime lies in this package's own modules, or beside it where npm put it there: npm does so only with
 * the version that this package asks for. So it is started without a look at its version; any other runtime starts
 * without flags, which it may not know, and looks at itself. `loaders`: a parameter for tests.
 */
export function shellLauncher(flags: readonly string[], loaders = LOADERS): string {
  const pinned = Object.entries(loaders).map(
    ([kind, loader]) => `[ -e ${loader} ] && start node-linux-${kind} "$@"`,
  );
  return `#!/bin/sh
self=$0
if [ -L "$self" ]; then self=$(readlink -f "$self"); fi
case $self in */*) dist=\${self%/*} ;; *) dist=. ;; esac
${STARTED}=
read -r ${STARTED} rest 2>/dev/null </proc/uptime
export ${STARTED}
start() {
  for modules in "$dist/../node_modules" "$dist/../.."; do
    node=$modules/$1/bin/node
    if [ -x "$node" ]; then shift; exec "$node" ${flags.join(' ')} "$dist/colibri.js" "$@"; fi
  done
}
${pinned.join('\n')}
if command -v node >/dev/null; then exec node "$dist/colibri.js" "$@"; fi
echo 'colibri needs Node 26 or newer, found none; npm ci installs the pinned one' >&2
exit 2
`;
}

/** Old syntax on purpose: an older runtime must be able to read the sentence that refuses it. */
export function nodeLauncher(flags: readonly string[]): string {
  return `#!/usr/bin/env node
var flags = ${JSON.stringify(flags)};
if (Number(process.versions.node.split('.')[0]) < 26) {
  console.error('colibri needs Node 26 or newer, got ' + process.version + '; in a checkout, npm scripts and npx use the pinned one');
  process.exit(2);
}
var given = process.argv.slice(2);
var missing = flags.filter(function (flag) { return process.execArgv.indexOf(flag) === -1; });
if (missing.length > 0 && given.indexOf('run') !== -1 && process.execve) {
  var env = Object.assign({}, process.env);
  if (!env.${STARTED}) env.${STARTED} = String(require('os').uptime() - performance.now() / 1000);
  process.execve(process.execPath, [process.execPath].concat(process.execArgv, missing, __filename, given), env);
}
require('./parts.js').runProgram(__dirname);
`;
}
