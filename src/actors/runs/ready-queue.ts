/**
 * The ready queue: runs that only wait for a slot. Bounded as one queue, in runs and bytes; inside, a tree of lanes for each
 * pool. The best run leaves first, by priority and waiting time, of those that no bound holds back: of all runs, of a group, of
 * a task, of a key. A run that is held back is stepped over without losing its place.
 *
 * Scans and the runs of flows are apart: they make what the others are, and no bound holds them back, nor do they count for one.
 */

import type { PoolName } from '../execution.ts';
import { LinkedHashMap } from '../kernel/index.ts';
import type { BoundView } from '../views/runtime-view.ts';
import { BoundGates, type BoundGatesOptions } from './bound-gates.ts';
import type { Bounds } from './bounds.ts';
import type { FlowMeter } from './flow-meter.ts';
import { Pressure } from './pressure.ts';
import { Lane, NONE } from './ready-tree.ts';
import type { Run } from './run.ts';
import type { WatermarksSpec } from './watermarks.ts';

export interface ReadyQueueOptions extends BoundGatesOptions {
  readonly capacity: number;
  readonly watermarks: WatermarksSpec;
  /** Share of what they may hold that the runs hold which were accepted and are not over: here, on slots, in retry. */
  readonly load: () => number;
  readonly flow: FlowMeter;
  /** Its sources have to wait, or may go on. */
  readonly onPressure: (isHigh: boolean, share: number) => void;
}

/** Between runs that become ready at one instant of the clock: exact in binary, and less than anybody waits. */
const STEP_MS = 2 ** -10;

export class ReadyQueue {
  readonly capacity: number;
  readonly pressure: Pressure;
  readonly #options: ReadyQueueOptions;
  #gates: BoundGates;
  #depth = 0;
  /** Of them, scans. */
  #scans = 0;
  /** When the last one became ready. */
  #lastMono = 0;
  /** Of runs on slots that a bound counts: the lane they came from. */
  readonly #holders = new LinkedHashMap<string, Lane>();

  constructor(options: ReadyQueueOptions) {
    this.capacity = options.capacity;
    this.#options = options;
    this.pressure = new Pressure({
      watermarks: options.watermarks,
      share: () => this.#share,
      onChange: options.onPressure,
    });
    this.#gates = new BoundGates(options, null);
  }

  get depth(): number {
    return this.#depth;
  }

  /** One run always has room, however large it is. */
  get full(): boolean {
    return this.#depth >= this.capacity || this.heavy;
  }

  /** Full in bytes. */
  get heavy(): boolean {
    return this.#depth > 0 && this.#options.load() >= 1;
  }

  /** Keys that have a lane of their own. */
  get keys(): number {
    return this.#gates.keys;
  }

  /** Whether runs of several pools share a bound. */
  get poolsShare(): boolean {
    return this.#gates.spanPools;
  }

  push(run: Run): void {
    const nowMono = this.#options.flow.arrived(++this.#depth);
    this.#lastMono = Math.max(nowMono, this.#lastMono + STEP_MS);
    run.readyMono = this.#lastMono;
    if (run.scan) this.#scans++;
    this.#gates.laneOf(run).push(run);
    this.pressure.grew();
  }

  /** Scans alone do not fill it: they would wait for room that they take themselves. */
  get #share(): number {
    const work = this.#depth - this.#scans;
    return work === 0 ? 0 : Math.max(work / this.capacity, this.#options.load());
  }

  /** The run that `take` would give. */
  peek(pool: PoolName): Run | null {
    return this.#gates.root(pool)?.bestLane?.runs.head ?? null;
  }

  /** Some run only waits for a slot: no bound holds it back. */
  get isOpen(): boolean {
    return this.#depth > 0 && this.#gates.isOpen;
  }

  /** Of the run that `take` would give; a lower one goes first. Infinity: there is none. */
  rank(pool: PoolName): number {
    return this.#gates.root(pool)?.rank ?? NONE;
  }

  take(pool: PoolName): Run | null {
    const lane = this.#gates.root(pool)?.bestLane ?? null;
    const run = lane?.runs.head ?? null;
    if (lane === null || run === null) return null;
    this.#leave(run, lane);
    if (this.#gates.enter(lane)) this.#holders.set(run.id, lane);
    return run;
  }

  /** A run that was taken has left its slot: its bounds may have room for the next one. */
  release(run: Run): void {
    const lane = this.#holders.size === 0 ? undefined : this.#holders.get(run.id);
    if (lane === undefined) return;
    this.#holders.delete(run.id);
    this.#gates.leave(lane);
  }

  /** Takes a run out of the middle. */
  remove(run: Run): void {
    const lane = Lane.of(run);
    this.#leave(run, lane);
    lane.keys?.tidy(lane);
  }

  #leave(run: Run, lane: Lane): void {
    lane.remove(run);
    if (run.scan) this.#scans--;
    this.#options.flow.left(--this.#depth);
  }

  /**
   * Other bounds, or tasks that have others, from now on; `running`: what is on slots. What waits keeps its place; where more
   * runs than a bound allows, none begins until fewer do.
   */
  rebound(bounds: Bounds, running: Iterable<Run>): void {
    const before = this.#gates;
    const waiting = [...before.lanes()].flatMap((lane) => [...lane.runs]);
    waiting.sort((a, b) => a.readyMono - b.readyMono);
    this.#gates = new BoundGates({ ...this.#options, bounds }, before);
    this.#holders.clear();
    for (const run of running) {
      if (run.scan) continue;
      const lane = this.#gates.laneOf(run);
      if (this.#gates.reenter(lane)) this.#holders.set(run.id, lane);
    }
    for (const run of waiting) {
      run.list!.remove(run);
      this.#gates.laneOf(run).push(run);
    }
  }

  /** The run that has waited longest of the lowest priority: the one `drop-oldest` gives up. Looks at every lane. */
  oldest(): Run | null {
    let oldest: Run | null = null;
    let lowest = NONE;
    for (const { runs, priority } of this.#gates.lanes()) {
      const { head } = runs;
      if (head === null || priority > lowest) continue;
      if (oldest === null || priority < lowest || head.readyMono < oldest.readyMono) oldest = head;
      lowest = priority;
    }
    return oldest;
  }

  /** Each bound, what is on slots behind it, and what it holds back. Looks at every lane. */
  view(): BoundView[] {
    return this.#gates.view();
  }

  /** No bound gives room by time any more. */
  close(): void {
    this.#gates.close();
  }
}
