/**
 * What the runtime is started with for `colibri run`, in all three forms. `docs/memory.md` has the figures.
 *
 * Only flags that leave the code cache of the runtime's own modules valid: with any V8 flag that V8 counts into the
 * hash of its caches (`--expose-gc`, `--optimize-for-size`, `--no-opt`, …) each thread compiles these modules anew, at
 * 20 ms and up to 0.7 MB. What else is wanted of V8 is set at run time, for the moment it is needed.
 */
export const RUNTIME_FLAGS: readonly string[] = [
  // Two halves of 1 MB for new objects in each thread; the default grows to 16 MB each.
  '--max-semi-space-size=1',
  // Below 2 GB, V8 does not map its built-in code once more for the process.
  '--max-old-space-size=1024',
  // Threads of the runtime for collecting and compiling, beside those that do the work.
  '--v8-pool-size=1',
  // What is to be optimised is so at once, function by function. In the background the jobs pile up behind each other:
  // 12 MB of them at the end of the start, which they also slow down.
  '--no-concurrent-recompilation',
  // Gives memory back to the system; see src/main/memory/native-memory.ts.
  '--experimental-ffi',
  '--disable-warning=ExperimentalWarning',
];
