/**
 * What the runtime is started with for `colibri run`, in all three forms. `docs/memory.md` has the figures.
 *
 * With any V8 flag that V8 counts into the hash of its caches (`--expose-gc`, `--optimize-for-size`, `--no-opt`, …) each
 * thread compiles the runtime's own modules anew: so there is no such flag here. What is wanted of V8 beside these is set
 * at run time, when it is needed.
 */
export const RUNTIME_FLAGS: readonly string[] = [
  // Two halves of 1 MB for new objects in each thread; the default grows to 16 MB each.
  '--max-semi-space-size=1',
  // Below 2 GB, V8 does not map its built-in code once more for the process.
  '--max-old-space-size=1024',
  // Threads of the runtime for collecting and compiling, beside those that do the work.
  '--v8-pool-size=1',
  // V8 has an idle collector of its own; each thread has one that knows when there is work (src/actors/kernel/tidier.ts).
  '--no-memory-reducer',
  // Where the optimising compilers are on, what is to be optimised is so at once: jobs would pile up behind each other.
  // See src/main/program.ts.
  '--no-concurrent-recompilation',
  // Gives memory back to the system; see src/main/memory/native-memory.ts.
  '--experimental-ffi',
  '--disable-warning=ExperimentalWarning',
];
