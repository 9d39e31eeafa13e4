/** Loaded before tests: a random test that fails says so in the end, however long the search for a smaller case could go on. */
import fc from 'fast-check';

fc.configureGlobal({ interruptAfterTimeLimit: 60_000, markInterruptAsFailure: true });
