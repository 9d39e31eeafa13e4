/** Keeps so many calls in flight until it is stopped: the load beside what is measured. */
export interface GoingLoad {
  /** Begins nothing more, waits for what is open. Rejects where a call failed. Idempotent. */
  stop(): Promise<void>;
}

export function keepGoing(options: {
  readonly inFlight: number;
  readonly call: () => Promise<unknown>;
}): GoingLoad {
  let stopped = false;
  const lane = async (): Promise<void> => {
    while (!stopped) await options.call();
  };
  const lanes = Promise.all(Array.from({ length: options.inFlight }, lane));
  // Whoever stops it learns of it then.
  lanes.catch(() => {});
  return {
    async stop() {
      stopped = true;
      await lanes;
    },
  };
}
