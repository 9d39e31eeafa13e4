/** What metrics say of flows: how many live, and how their steps ended. One set of numbers for each flow of the config. */
import type { FlowCountsView } from '../views/runtime-view.ts';
import type { StepReason } from './flow-events.ts';
import type { StepEnd } from './step-states.ts';

type Counts = { live: number; steps: Record<StepEnd, number> };

export class FlowCounts {
  readonly #counts = new Map<string, Counts>();

  constructor(flows: Iterable<string>) {
    for (const flow of flows) {
      this.#counts.set(flow, { live: 0, steps: { success: 0, failed: 0, skipped: 0, cancelled: 0 } });
    }
  }

  began(flow: string): void {
    this.#counts.get(flow)!.live++;
  }

  over(flow: string): void {
    this.#counts.get(flow)!.live--;
  }

  /** What was taken over ended in another flow run. */
  stepEnded(flow: string, state: StepEnd, reason: StepReason): void {
    if (reason !== 'taken-over') this.#counts.get(flow)!.steps[state]++;
  }

  view(): readonly FlowCountsView[] {
    return [...this.#counts].map(([name, { live, steps }]) => ({ name, live, steps: { ...steps } }));
  }
}
