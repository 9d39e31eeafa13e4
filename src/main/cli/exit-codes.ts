/** What the process ends with; scripts rely on it. The numbers from 64 up are those of sysexits.h. */
import type { ErrorCode } from '../../actors/kernel/index.ts';

export const ExitCode = {
  Done: 0,
  /** The work failed: the run, or the request. */
  Failed: 1,
  Usage: 2,
  NoDaemon: 69,
  /** Another daemon holds the state directory. */
  Held: 75,
  /** Also where an address of the config cannot be listened on. */
  ConfigWrong: 78,
  /** 128 + SIGINT, as shells count it. */
  Interrupted: 130,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

export const EXIT_MEANINGS: readonly (readonly [ExitCode, string])[] = [
  [ExitCode.Done, 'done'],
  [ExitCode.Failed, 'the work failed, or what was asked for does not exist'],
  [ExitCode.Usage, 'wrong usage: an unknown command or flag, a value that does not fit'],
  [ExitCode.NoDaemon, 'no daemon answers, or it ended before the run that was waited for'],
  [ExitCode.Held, 'the state directory is held by another daemon'],
  [ExitCode.ConfigWrong, 'the config is wrong, or its metrics address or state_dir cannot be used'],
  [ExitCode.Interrupted, 'Ctrl-C while waiting; the run goes on'],
];

export function exitCodeOf(code: ErrorCode): ExitCode {
  switch (code) {
    case 'usage':
      return ExitCode.Usage;
    case 'no-daemon':
      return ExitCode.NoDaemon;
    case 'state-dir-held':
      return ExitCode.Held;
    case 'config-invalid':
    case 'listen-failed':
      return ExitCode.ConfigWrong;
    default:
      return ExitCode.Failed;
  }
}
