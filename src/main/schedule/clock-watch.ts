/**
 * Watches the clocks: at each look it tells apart what has happened since the one before.
 *
 *     forward, backward   the wall clock was set: it went another way than monotonic time
 *     suspend             the machine slept: the wall clock went on, monotonic time did not, and the machine knows
 *     stall               the process got no time: both clocks went on, and a timer fired late
 *
 * Whoever has woken at an instant of wall time looks, and all who go by it are told of each look.
 *
 * Between two looks, time is the wall time of the last look and the monotonic time since: whoever decides by it sees no
 * step but where this class has told of one.
 */
import type { WallWatch } from '../../actors/delay/index.ts';
import type { Clock } from '../../actors/kernel/index.ts';
import { CLOCK_JUMPS, type ClockJump } from '../../actors/views/runtime-view.ts';

/** Smaller ones are not worth a word; they add up until they are. */
export const JUMP_MS = 1000;

export interface ClockLook {
  /** Whole ms. */
  readonly wallMs: number;
  /** Since the last look, suspends included. */
  readonly passedMs: number;
  /** How far the wall clock was set; 0: it was not. */
  readonly stepMs: number;
  /** The wall clock was set, or the machine slept. */
  readonly moved: boolean;
}

/** What the log says of each. */
export const CLOCK_JUMP_LINES: Readonly<Record<ClockJump, string>> = {
  forward: 'the wall clock was set forward',
  backward: 'the wall clock was set back',
  suspend: 'the machine was suspended',
  stall: 'the process stood still',
};

export class ClockWatch implements WallWatch {
  readonly #clock: Clock;
  readonly #onJump: (kind: ClockJump, sizeMs: number) => void;
  readonly #listeners: ((look: ClockLook) => void)[] = [];
  readonly #counts = Object.fromEntries(CLOCK_JUMPS.map((kind) => [kind, 0])) as Record<ClockJump, number>;
  #wallMs: number;
  #mono: number;
  /** Wall time less monotonic time, and time suspended, when something was last told or the watch began. */
  #offsetMs: number;
  #suspendedMs: number;

  /** `sizeMs` is never negative. */
  constructor(clock: Clock, onJump: (kind: ClockJump, sizeMs: number) => void) {
    this.#clock = clock;
    this.#onJump = onJump;
    this.#wallMs = Math.floor(clock.wallMs());
    this.#mono = clock.monoMs();
    this.#offsetMs = this.#wallMs - this.#mono;
    this.#suspendedMs = clock.suspendedMs?.() ?? 0;
  }

  get counts(): Readonly<Record<ClockJump, number>> {
    return this.#counts;
  }

  /** Wall time, without the steps since the last look. */
  nowMs(): number {
    return this.#wallMs + this.#clock.monoMs() - this.#mono;
  }

  /** Calls back at each look, after what it has found was told. */
  onLook(listener: (look: ClockLook) => void): void {
    this.#listeners.push(listener);
  }

  look(lateMs: number): ClockLook {
    const wallMs = Math.floor(this.#clock.wallMs());
    const mono = this.#clock.monoMs();
    const movedMs = wallMs - mono - this.#offsetMs;
    const moved = Math.abs(movedMs) >= JUMP_MS;
    const stepMs = moved ? this.#explain(movedMs) : 0;
    const sleptMs = moved ? movedMs - stepMs : 0;
    const passedMs = mono - this.#mono + sleptMs;
    // Of several timers that are late for one reason, the first one tells.
    const stoodMs = Math.min(lateMs, mono - this.#mono);
    if (sleptMs >= JUMP_MS) this.#tell('suspend', sleptMs);
    if (stepMs !== 0) this.#tell(stepMs > 0 ? 'forward' : 'backward', Math.abs(stepMs));
    if (stoodMs > JUMP_MS) this.#tell('stall', stoodMs);
    this.#wallMs = wallMs;
    this.#mono = mono;
    const look: ClockLook = { wallMs, passedMs, stepMs, moved };
    for (const listener of this.#listeners) listener(look);
    return look;
  }

  /** How much of it was a step: what the machine did not sleep. */
  #explain(movedMs: number): number {
    const suspendedMs = this.#clock.suspendedMs?.() ?? 0;
    const sleptMs = suspendedMs - this.#suspendedMs;
    this.#suspendedMs = suspendedMs;
    this.#offsetMs += movedMs;
    if (sleptMs < JUMP_MS) return movedMs;
    const stepMs = movedMs - sleptMs;
    return Math.abs(stepMs) < JUMP_MS ? 0 : stepMs;
  }

  #tell(kind: ClockJump, sizeMs: number): void {
    this.#counts[kind]++;
    this.#onJump(kind, sizeMs);
  }
}
