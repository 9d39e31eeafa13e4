/** All commands, in the order of the help. */
import type { Command } from '../command.ts';
import { auditCommand } from './audit.ts';
import { backupCommand } from './backup.ts';
import { cancelCommand } from './cancel.ts';
import { checkCommand } from './check.ts';
import { deadCommand } from './dead.ts';
import { flowCommand } from './flow.ts';
import { nextCommand } from './next.ts';
import { reloadCommand } from './reload.ts';
import { runCommand } from './run.ts';
import { runsCommand } from './runs.ts';
import { showCommand } from './show.ts';
import { sizeCommand } from './size.ts';
import { statusCommand } from './status.ts';
import { tasksCommand } from './tasks.ts';
import { triggerCommand } from './trigger.ts';
import { versionCommand } from './version.ts';

export const COMMANDS: readonly Command[] = [
  runCommand,
  checkCommand,
  nextCommand,
  triggerCommand,
  flowCommand,
  tasksCommand,
  runsCommand,
  showCommand,
  cancelCommand,
  deadCommand,
  auditCommand,
  backupCommand,
  reloadCommand,
  statusCommand,
  sizeCommand,
  versionCommand,
];
