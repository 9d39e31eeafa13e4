/**
 * Ends the process although a thread of it does not end: one that sits in a long native call cannot be ended from
 * outside, and `process.exit` waits for it. The process is replaced by a shell that exits with the same code. Where there is
 * no shell, as in an image that holds the executable alone, it kills itself: a code that nobody expects is better than no end.
 */
export function endProcessAtOnce(code: number, shell = '/bin/sh'): never {
  try {
    process.execve?.(shell, ['sh', '-c', `exit ${Math.trunc(code)}`], {});
  } catch {
    // Below.
  }
  process.kill(process.pid, 'SIGKILL');
  // Not reached; says so to the compiler.
  process.exit(code);
}
