/**
 * Keeps a thread that runs users' code alive when that code fails outside of any call that could catch it:
 * a throw in a timer, a rejection nobody handles, a call of `process.exit`.
 *
 * Each run is started within an async context that carries its id, and the runtime gives that context back
 * when it reports an error; so the error is known to be that run's, and the run fails with it. Who looks at the
 * thread from outside is told the run as well. Only threads with users' modules have a guard: the context costs
 * every promise a little.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { ColibriError, toErrorData } from '../../actors/kernel/errors.ts';
import { tellOwner } from '../../actors/kernel/index.ts';

export interface GuardHandlers {
  /** An error that belongs to a run, which may have ended already. */
  readonly onOwned: (run: string, error: ColibriError) => void;
  /** An error of which nobody knows whose it is. */
  readonly onUnowned: (error: ColibriError) => void;
}

export interface ThreadGuard {
  /** Runs `start` so that what it leaves behind is known to be of `run`. */
  runAs<Result>(run: string, start: () => Result): Result;
  /** Takes the guard off the thread. */
  close(): void;
}

export function guardThread({ onOwned, onUnowned }: GuardHandlers): ThreadGuard {
  const owner = new AsyncLocalStorage<string>();
  /** The errors thrown by `exit` were reported when it was called. */
  const reported = new WeakSet<object>();

  const report = (error: ColibriError) => {
    const run = owner.getStore();
    if (run === undefined) onUnowned(error);
    else onOwned(run, error);
  };
  const onUncaught = (thrown: unknown) => {
    if (isReported(reported, thrown)) return;
    report(strayError('threw in a timer or callback that nothing waits for', thrown));
  };
  const onRejection = (thrown: unknown) => {
    if (isReported(reported, thrown)) return;
    report(strayError('left a rejected promise that it neither returned nor awaited', thrown));
  };
  const exit = (code?: number | string | null): never => {
    const error = new ColibriError(
      'worker-lost',
      `the handler called process.exit(${code ?? ''}); a handler ends its run by returning or throwing`,
    );
    reported.add(error);
    report(error);
    throw error;
  };

  const realExit = process.exit;
  process.on('uncaughtException', onUncaught);
  process.on('unhandledRejection', onRejection);
  setExit(exit);
  const tellNobody = tellOwner(() => owner.getStore());
  return {
    runAs: (run, start) => owner.run(run, start),
    close() {
      process.off('uncaughtException', onUncaught);
      process.off('unhandledRejection', onRejection);
      setExit(realExit);
      tellNobody();
    },
  };
}

/** Also for modules that import `exit` by name. */
function setExit(exit: typeof process.exit): void {
  process.exit = exit;
  process.getBuiltinModule('node:module').syncBuiltinESMExports();
}

function isReported(reported: WeakSet<object>, thrown: unknown): boolean {
  return typeof thrown === 'object' && thrown !== null && reported.has(thrown);
}

/** Keeps what was thrown as the cause, and says in one line where it came from. */
function strayError(how: string, thrown: unknown): ColibriError {
  const cause = toErrorData(thrown);
  return new ColibriError('handler-failed', `the handler ${how}: ${cause.message}`, { cause: thrown });
}
