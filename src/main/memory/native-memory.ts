/**
 * What the C library can do about the memory of this process, reached through `node:ffi`: no native add-on. Where
 * the runtime was started without `--experimental-ffi`, or the library lacks a function (musl has no `mallopt`),
 * the daemon goes on without; it only stays larger.
 */
import { type Ffi, hugePages, loadFfi, nativeFunction, toErrorData } from '../../actors/kernel/index.ts';
import type { PageRange } from './file-pages.ts';

export interface NativeMemory {
  /**
   * One malloc arena for all threads, given back to the system early, and no huge pages that nobody asked for. To be called
   * before threads start: an arena that exists stays.
   */
  tuneAllocator(): void;
  /** Gives free memory of malloc back to the system, from all arenas. */
  trim(): void;
  /** Unmaps the resident pages of a range that came from a file and was never written to. */
  release(range: PageRange): void;
  /**
   * Lets the kernel map single pages of these ranges, where it maps sixteen around each one that is needed, and 2 MB
   * where a file has just been written and lies in the page cache in pieces of that size: what is resident is then what
   * is in use. False where the kernel (Linux before 6.7) or a sandbox does not allow the first.
   *
   * It is a side effect of userfaultfd(2): a range registered for asynchronous write protection is left out of
   * fault-around. Nothing is ever protected, no fault is ever reported.
   */
  mapSingly(ranges: readonly PageRange[]): boolean;
}

/** mallopt(3). */
const M_TRIM_THRESHOLD = -1;
const M_TOP_PAD = -2;
const M_ARENA_MAX = -8;
const TRIM_THRESHOLD_BYTES = 128 * 1024;
const TOP_PAD_BYTES = 64 * 1024;
/** madvise(2). */
const MADV_DONTNEED = 4;
const MADV_NOHUGEPAGE = 15;
/** userfaultfd(2), ioctl_userfaultfd(2). */
const SYS_USERFAULTFD: Readonly<Record<string, bigint>> = { x64: 323n, arm64: 282n };
const O_CLOEXEC_USER_MODE_ONLY = 0o2000001n;
const UFFDIO_API = 0xc018aa3fn;
const UFFDIO_REGISTER = 0xc020aa00n;
const UFFD_API = 0xaan;
const UFFD_FEATURE_WP_ASYNC = 1n << 15n;
const UFFDIO_REGISTER_MODE_WP = 2n;

/** `missing` says in a sentence why there is none. */
export type NativeMemoryResult = { readonly native: NativeMemory } | { readonly missing: string };

export function loadNativeMemory(): NativeMemoryResult {
  const ffi = loadFfi();
  if (ffi === undefined) {
    return { missing: 'expected node:ffi, got a runtime that was started without --experimental-ffi' };
  }
  try {
    const { madvise } = ffi.dlopen(null, {
      madvise: { arguments: ['u64', 'u64', 'i32'], return: 'i32' },
    }).functions;
    const mallopt = nativeFunction(ffi, 'mallopt', ['i32', 'i32']);
    const trim = nativeFunction(ffi, 'malloc_trim', ['u64']);
    return {
      native: {
        tuneAllocator() {
          mallopt?.(M_ARENA_MAX, 1);
          mallopt?.(M_TRIM_THRESHOLD, TRIM_THRESHOLD_BYTES);
          mallopt?.(M_TOP_PAD, TOP_PAD_BYTES);
          hugePages.turnOff();
        },
        trim: () => void trim?.(0n),
        release: ({ start, bytes }) => void madvise?.(start, bytes, MADV_DONTNEED),
        mapSingly(ranges) {
          for (const { start, bytes } of ranges) madvise?.(start, bytes, MADV_NOHUGEPAGE);
          return mapSingly(ffi, ranges);
        },
      },
    };
  } catch (error) {
    return { missing: `expected madvise in the C library, got: ${toErrorData(error, 'internal').message}` };
  }
}

function mapSingly(ffi: Ffi, ranges: readonly PageRange[]): boolean {
  const number = SYS_USERFAULTFD[process.arch];
  const syscall = nativeFunction(ffi, 'syscall', ['i64', 'i64'], 'i64');
  const ioctl = nativeFunction(ffi, 'ioctl', ['i32', 'u64', 'pointer']);
  if (number === undefined || syscall === undefined || ioctl === undefined) return false;
  // Stays open as long as the process lives: closing it would end the registration.
  const descriptor = Number(syscall(number, O_CLOEXEC_USER_MODE_ONLY));
  if (descriptor < 0) return false;
  const ask = (request: bigint, ...words: readonly bigint[]) => {
    const structure = BigUint64Array.from(words);
    return ioctl(descriptor, request, ffi.getRawPointer(structure)) === 0;
  };
  if (!ask(UFFDIO_API, UFFD_API, UFFD_FEATURE_WP_ASYNC, 0n)) return false;
  return ranges
    .map(({ start, bytes }) => ask(UFFDIO_REGISTER, start, bytes, UFFDIO_REGISTER_MODE_WP, 0n))
    .includes(true);
}
