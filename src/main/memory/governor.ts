/**
 * The memory governor: keeps the process within its budget without dropping work.
 *
 *   look ─▶ pages of files ─▶ nobody waits? ─▶ collect      (the rule: costs nothing that anyone notices)
 *             given back       grown?
 *                 │
 *                 └─ still near the budget ─▶ collect at once ─▶ fewer cpu threads, small batches ─▶ … ─▶ back
 *
 * A cpu thread is only begun where there is room for it, so that it need not be given up a moment later. While one starts,
 * what can be given back is, unless there is plenty of room: its own memory comes at the end of that.
 *
 * It collects the garbage of main alone. Other threads collect their own in their own time (`Tidier`), in the middle of work
 * only while they are told that memory is short, and tell of it; near the budget they are asked to.
 *
 * What it does is counted by step. Looks come often while there is work and rarely while there is none: a look
 * reads one file of /proc, a release is a handful of system calls.
 */
import type { Clock, ClockTimer } from '../../actors/kernel/index.ts';
import type { MemoryStep } from '../../actors/views/runtime-view.ts';
import type { GovernorOptions } from './governor-options.ts';
import { OptimiseDecision } from './optimise-decision.ts';
import type { ProcessMemory } from './process-memory.ts';
import { THREAD_BYTES, threadsThatFit } from './thread-room.ts';

/** Between two looks: without work, with work, near the budget, and while a thread that starts touches most. */
const LOOK_MS = { idle: 1000, busy: 250, near: 100, touching: 20 } as const;
/** Fewer resident pages of files than this are what is in use. */
const FILE_PAGES_KEPT = 4 * 2 ** 20;
/** The same near the budget: what is in use comes back at once, and costs faults. */
const FILE_PAGES_KEPT_NEAR = 2 * 2 ** 20;
/**
 * Between two releases in the middle of work. What is in use is there again a tenth of a second later, in some thousand
 * faults: near the budget it was a tenth of a core for nothing.
 */
const RELEASE_EVERY_MS = 1000;
/** Growth of main's heap that is worth a collection when nobody waits; of the whole, that is worth a trim. */
const GROWN_BYTES = 2 ** 20;
/** Growth of main's heap that is worth one in the middle of work: more than the room for new objects. */
const GROWN_MUCH_BYTES = 4 * 2 ** 20;
/** Nobody waits when nothing was executed for so long. */
const QUIET_MS = 1500;
/** Runs that ended between two looks: so many are work. A task a second is none. */
const WORK_RUNS = 20;
/** Between two collections that were not asked for by the budget. */
const COLLECT_EVERY_MS = 10_000;
/** The same when cpu threads have ended: 4 MB of each stay with the process until main collects. */
const ENDED_COLLECT_EVERY_MS = 2000;
/**
 * Pages that a collection frees go into V8's pool, which is shared by all threads. It is emptied within 8 to 16 s, but only
 * where a page comes into it more than 12 s after that was last arranged: where the last collection came earlier than that
 * after the one before, 3 MB stay for good, until somebody collects again (`PostDelayedReleaseTaskIfNeeded` in V8's
 * src/heap/memory-pool.cc). The smallest collection will do.
 */
const POOLED_MS = 13_000;
/**
 * V8 drops code that was not run during six collections, and each of ours is two: so what only the start ran goes. The
 * first one frees most; the others, for one MB together, are far enough apart to be a small part of an idle minute.
 */
const FIRST_COLLECTIONS = 3;
const FIRST_COLLECT_EVERY_MS = 90_000;
/** Shares of the budget: above the first it is near, below the second there is room again. */
const NEAR = 0.95;
const ROOM = 0.8;
/** Below this one, pages of files that work needs are left to it. Lower, so that they are not taken for a lack of room. */
const PLENTY = 0.7;
/** Between two steps near the budget, so that each can show what it does. */
const NEAR_EVERY_MS = 2000;
/** Between two collections near the budget: each stops main for some 30 ms, and the other threads as long. */
const NEAR_COLLECT_MS = 15_000;
/** The same in the middle of work, where main's heap has grown much: less than a hundredth of main's time. */
const BUSY_COLLECT_EVERY_MS = 2500;
/** So much does a process grow while a cpu thread starts: by pages of files, and the thread. */
const STARTING_BYTES = 15 * 2 ** 20 + THREAD_BYTES;
/** It touches those pages within so long. */
const STARTING_MS = 1000;
/** Most of them within so long, on a slow machine as well; where thread follows thread, only those of one now and then. */
const TOUCHING_MS = 400;
const TOUCHING_EVERY_MS = 2000;
/** There must have been room for so long before something is made larger. */
const ROOM_MS = 10_000;

export class MemoryGovernor {
  readonly #options: GovernorOptions;
  readonly #clock: Clock;
  readonly #steps: Record<MemoryStep, number> = { release: 0, collect: 0, shrink: 0, grow: 0 };
  #timer: ClockTimer | null = null;
  #prepared = false;
  #running = false;
  #activeMono = 0;
  #collectedMono = Number.NEGATIVE_INFINITY;
  /** Of main. */
  #collections = 0;
  /** Of all threads, when it last looked. */
  #collectionsSeen = 0;
  /** When a thread last collected, as far as is known; null: the pool has been seen to since. */
  #pooledMono: number | null = null;
  /** What main's heap held right after its last collection, or less. */
  #heapFloor = 0;
  /** Anonymous memory after it was last given back. */
  #anonFloor = Number.POSITIVE_INFINITY;
  #releasedMono = Number.NEGATIVE_INFINITY;
  #nearMono = Number.NEGATIVE_INFINITY;
  /** Since when there was room; null: there is none. */
  #roomSinceMono: number | null = null;
  /** When a cpu thread last began to start. */
  #startingMono = Number.NEGATIVE_INFINITY;
  /** When it last did so after a while without. */
  #touchingMono = Number.NEGATIVE_INFINITY;
  #runningSeen = 0;
  #endedSeen = 0;
  /** Cpu threads, since the last collection of main. */
  #threadsEnded = false;
  #narrow = false;
  #warned = false;
  #optimise: OptimiseDecision | null = null;

  constructor(options: GovernorOptions) {
    this.#options = options;
    this.#clock = options.clock;
  }

  get steps(): Readonly<Record<MemoryStep, number>> {
    return this.#steps;
  }

  /** The part of the start that may come before it, at a moment in which nobody waits. Idempotent. */
  prepare(): void {
    if (this.#prepared) return;
    this.#prepared = true;
    this.#options.hands.mapSingly();
  }

  /** Idempotent. What the start left behind is collected as soon as nobody waits. */
  start(): void {
    if (this.#running) return;
    this.#running = true;
    this.#activeMono = this.#clock.monoMs();
    this.prepare();
    const { ended, hands, runsUserCode } = this.#options;
    const { setOptimising } = hands;
    this.#optimise = new OptimiseDecision({ ended, runsUserCode, setOptimising }, this.#activeMono);
    if (this.#options.readMemory().file > FILE_PAGES_KEPT) this.#releasePages();
    this.#fitThreads(this.#options.readMemory(), true);
    // Whoever starts the daemon waits for it to be ready: what takes longer comes a little later. So does what changes
    // V8's flags: code caches are good for the flags of the start, and threads are just being started.
    this.#arm(LOOK_MS.near);
  }

  /**
   * A cpu thread begins to start: on another core, so that a collection now holds up nothing that waits for the thread. Where
   * there is plenty of room for it, it is only looked at.
   */
  threadStarts(): void {
    if (!this.#running) return;
    const nowMono = this.#clock.monoMs();
    this.#activeMono = nowMono;
    this.#startingMono = nowMono;
    if (nowMono - this.#touchingMono >= TOUCHING_EVERY_MS) this.#touchingMono = nowMono;
    this.#timer?.cancel();
    this.#arm(nowMono - this.#touchingMono < TOUCHING_MS ? LOOK_MS.touching : LOOK_MS.near);
    const { budgetBytes, readMemory } = this.#options;
    const { rss } = readMemory();
    if (rss > 0 && rss + STARTING_BYTES <= PLENTY * budgetBytes) return;
    this.#releasePages();
    if (nowMono - this.#collectedMono >= COLLECT_EVERY_MS && this.#hasGrown) {
      this.#collect(nowMono);
      this.#options.hands.collectThreads();
    }
  }

  /** Idempotent. */
  stop(): void {
    this.#running = false;
    this.#timer?.cancel();
  }

  #look(): void {
    const { budgetBytes, cpu } = this.#options;
    const nowMono = this.#clock.monoMs();
    if (this.#hasWorked()) this.#activeMono = nowMono;
    if (cpu.running < this.#runningSeen) this.#threadsEnded = true;
    this.#runningSeen = cpu.running;
    // Code caches are good for the flags with which a thread begins.
    if (nowMono - this.#startingMono >= LOOK_MS.near) this.#optimise?.look(nowMono);
    const memory = this.#giveBack(nowMono);
    this.#emptyPool(nowMono);
    // Not known just now: nothing is made larger or smaller.
    if (memory.rss === 0) return this.#arm(LOOK_MS.idle);
    this.#fitThreads(memory, this.#isQuiet(nowMono));
    const short = memory.rss > ROOM * budgetBytes;
    this.#options.hands.setShort(short);
    const near = memory.rss > NEAR * budgetBytes;
    if (near) this.#shrink(nowMono, memory);
    else this.#grow(nowMono, memory);
    if (this.#isQuiet(nowMono)) this.#collectQuietly(nowMono);
    else if (short) this.#collectBusily(nowMono);
    const quiet = this.#isQuiet(nowMono);
    // A process at rest that is too large is so at the next look as well.
    if (nowMono - this.#touchingMono < TOUCHING_MS) this.#arm(LOOK_MS.touching);
    else if ((near && !quiet) || nowMono - this.#startingMono < STARTING_MS) this.#arm(LOOK_MS.near);
    else this.#arm(quiet ? this.#idleMs() : LOOK_MS.busy);
  }

  /** Runs may come and go between two looks: thousands a second, and none at the moment of a look. */
  #hasWorked(): boolean {
    const { active, ended } = this.#options;
    const before = this.#endedSeen;
    this.#endedSeen = ended();
    return active() > 0 || this.#endedSeen - before >= WORK_RUNS;
  }

  /** To the middle of a second, with all else that wakes an idle process; not when tasks are due. */
  #idleMs(): number {
    return 1.5 * LOOK_MS.idle - (this.#clock.wallMs() % LOOK_MS.idle);
  }

  /** What collections, or work that has run dry, have freed; pages of files where there are many. */
  #giveBack(nowMono: number): ProcessMemory {
    const quiet = this.#isQuiet(nowMono);
    const { readMemory, hands } = this.#options;
    const memory = readMemory();
    const hasCollected = this.#countCollections() > 0;
    if (hasCollected) this.#pooledMono = nowMono;
    if (hasCollected || (quiet && memory.anon - this.#anonFloor >= GROWN_BYTES)) {
      hands.trim();
      hands.releasePages();
      const left = readMemory();
      this.#anonFloor = left.anon;
      return left;
    }
    if (memory.file <= this.#filePagesKept(memory, quiet)) return memory;
    if (!quiet && memory.rss <= PLENTY * this.#options.budgetBytes) return memory;
    const starting = nowMono - this.#startingMono < STARTING_MS;
    if (!quiet && !starting && nowMono - this.#releasedMono < RELEASE_EVERY_MS) return memory;
    this.#releasePages();
    return readMemory();
  }

  /** At rest, what is in use only goes where that can bring the whole within the budget: it is a hundredth of a core. */
  #filePagesKept({ rss, anon }: ProcessMemory, quiet: boolean): number {
    const { budgetBytes } = this.#options;
    const helps = anon + FILE_PAGES_KEPT_NEAR <= budgetBytes;
    return rss > NEAR * budgetBytes && (helps || !quiet) ? FILE_PAGES_KEPT_NEAR : FILE_PAGES_KEPT;
  }

  #emptyPool(nowMono: number): void {
    if (this.#pooledMono === null || nowMono - this.#pooledMono < POOLED_MS) return;
    this.#pooledMono = null;
    this.#options.hands.collectYoung();
  }

  /** Of all threads with actors, since the last look. */
  #countCollections(): number {
    const collections = this.#collections + this.#options.threadCollections();
    const since = collections - this.#collectionsSeen;
    this.#collectionsSeen = collections;
    this.#steps.collect += since;
    return since;
  }

  #releasePages(): void {
    this.#options.hands.releasePages();
    this.#releasedMono = this.#clock.monoMs();
    this.#steps.release++;
  }

  #isQuiet(nowMono: number): boolean {
    return nowMono - this.#activeMono >= QUIET_MS;
  }

  #collectQuietly(nowMono: number): void {
    const sinceMs = nowMono - this.#collectedMono;
    if (sinceMs < (this.#threadsEnded ? ENDED_COLLECT_EVERY_MS : COLLECT_EVERY_MS)) return;
    const isFirst = this.#collections < FIRST_COLLECTIONS && sinceMs >= FIRST_COLLECT_EVERY_MS;
    if (isFirst || this.#threadsEnded || this.#hasGrown) this.#collect(nowMono);
    else this.#heapFloor = Math.min(this.#heapFloor, this.#options.heldBytes());
  }

  /** V8 lets a heap that lives on short garbage grow by 8 MB before it collects, and keeps the pages then. */
  #collectBusily(nowMono: number): void {
    if (nowMono - this.#collectedMono < BUSY_COLLECT_EVERY_MS) return;
    if (this.#options.heldBytes() - this.#heapFloor >= GROWN_MUCH_BYTES) this.#collect(nowMono);
  }

  get #hasGrown(): boolean {
    return this.#options.heldBytes() - this.#heapFloor >= GROWN_BYTES;
  }

  #collect(nowMono: number): void {
    const { hands, heldBytes } = this.#options;
    hands.collect();
    this.#collections++;
    this.#threadsEnded = false;
    this.#collectedMono = nowMono;
    this.#heapFloor = heldBytes();
  }

  /** Threads that run are left alone here. At rest they are as many as fit at once, at work one more after a while. */
  #fitThreads(memory: ProcessMemory, quiet: boolean): void {
    const { cpu } = this.#options;
    const fit = this.#threadsThatFit(memory, quiet);
    if (fit < cpu.threads) this.#steps.shrink++;
    else if (quiet && cpu.running === 0 && fit > cpu.threads) this.#steps.grow++;
    else return;
    cpu.setThreads(fit);
  }

  #threadsThatFit({ rss }: ProcessMemory, quiet: boolean): number {
    const { running, maxThreads } = this.#options.cpu;
    const limitBytes = NEAR * this.#options.budgetBytes;
    return threadsThatFit({ limitBytes, rssBytes: rss, running, maxThreads, quiet });
  }

  /** One step at a time, the mildest first; a thread is given up only beyond the budget itself. */
  #shrink(nowMono: number, memory: ProcessMemory): void {
    this.#roomSinceMono = null;
    if (nowMono - this.#nearMono < NEAR_EVERY_MS) return;
    this.#nearMono = nowMono;
    const { cpu, warn, budgetBytes, readMemory } = this.#options;
    if (memory.file > this.#filePagesKept(memory, this.#isQuiet(nowMono))) {
      this.#releasePages();
      memory = readMemory();
      if (memory.rss <= NEAR * budgetBytes) return;
    }
    const mayHaveGarbage = !this.#isQuiet(nowMono) || this.#hasGrown;
    if (mayHaveGarbage && nowMono - this.#collectedMono >= NEAR_COLLECT_MS) {
      this.#collect(nowMono);
      this.#options.hands.collectThreads();
    } else if (!this.#narrow) {
      this.#narrow = true;
      cpu.setNarrow(true);
      this.#steps.shrink++;
    } else if (memory.rss > budgetBytes && cpu.threads > 1) {
      cpu.setThreads(cpu.threads - 1);
      this.#steps.shrink++;
    } else if (memory.rss > budgetBytes && !this.#warned) {
      this.#warned = true;
      warn('more memory in use than the budget allows, and nothing left to make smaller', {
        rss_mb: toMb(memory.rss),
        budget_mb: toMb(budgetBytes),
      });
    }
  }

  #grow(nowMono: number, memory: ProcessMemory): void {
    if (memory.rss > ROOM * this.#options.budgetBytes) {
      this.#roomSinceMono = null;
      return;
    }
    this.#roomSinceMono ??= nowMono;
    if (nowMono - this.#roomSinceMono < ROOM_MS) return;
    this.#roomSinceMono = nowMono;
    const { cpu } = this.#options;
    if (cpu.threads < this.#threadsThatFit(memory, this.#isQuiet(nowMono))) cpu.setThreads(cpu.threads + 1);
    else if (this.#narrow) {
      this.#narrow = false;
      cpu.setNarrow(false);
    } else return;
    this.#warned = false;
    this.#steps.grow++;
  }

  #arm(delayMs: number): void {
    if (!this.#running) return;
    this.#timer = this.#clock.setTimer(delayMs, () => this.#look());
    this.#timer.unref();
  }
}

function toMb(bytes: number): number {
  return Math.round(bytes / 104_857.6) / 10;
}
