/**
 * Whether V8's optimising compilers may work, in all threads of the process. Off, code stays with the interpreter and
 * the baseline compiler; what is optimised already stays so. Only flags that decide whether a *new* compilation
 * begins: unlike those of the collector they may change while threads run.
 */
export function setOptimising(on: boolean): void {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  for (const compiler of ['maglev', 'opt']) setFlagsFromString(`--${on ? '' : 'no-'}${compiler}`);
}
