/**
 * What all engines of wall time share. Timers go by monotonic time, so that one which was set for an instant of wall time
 * is set wrongly once the clock is set or the machine has slept. Whichever engine wakes first looks at the clocks, and all
 * of them hear of it.
 */
export interface WallWatch {
  /** `lateMs`: how much later than asked a timer fired, in monotonic time; 0 where that is not known. */
  look(lateMs: number): void;
  /** Calls back at each look; `moved`: wall time is not where monotonic time puts it. */
  onLook(listener: (look: { readonly wallMs: number; readonly moved: boolean }) => void): void;
}
