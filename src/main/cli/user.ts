/** Who gives the commands, for the audit trail: `name (uid)`, or `caller as name (uid)` under sudo. */
import { userInfo } from 'node:os';
import { MAX_USER_LENGTH } from '../../actors/control/index.ts';

/** Of one name. */
const NAME_LENGTH = 40;

export interface UserFacts {
  /** Null: not known, as where the uid has no entry. */
  readonly name: string | null;
  readonly uid: number;
  /** Who has become this user by sudo. */
  readonly sudoUser: string | undefined;
}

/** Printable ASCII, at most `MAX_USER_LENGTH` characters, whatever the names are. */
export function userText({ name, uid, sudoUser }: UserFacts): string {
  const shown = `${cleaned(name ?? '?')} (${uid})`;
  const called =
    sudoUser === undefined || sudoUser === '' || sudoUser === name ? '' : `${cleaned(sudoUser)} as `;
  return `${called}${shown}`.slice(0, MAX_USER_LENGTH);
}

export function currentUser(env: Readonly<Record<string, string | undefined>>): string {
  const sudoUser = env.SUDO_USER;
  try {
    const { username, uid } = userInfo();
    return userText({ name: username, uid, sudoUser });
  } catch {
    return userText({ name: null, uid: process.getuid?.() ?? -1, sudoUser });
  }
}

function cleaned(name: string): string {
  return name.replace(/[^\x21-\x7e]/g, '?').slice(0, NAME_LENGTH);
}
