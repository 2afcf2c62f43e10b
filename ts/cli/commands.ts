/** Every command of `svc`, in the order of `svc help`. */
import type { Command } from './command.ts';
import { adminCreate } from './commands/admin-create.ts';
import { audit, auditVerify } from './commands/audit.ts';
import { bench } from './commands/bench.ts';
import { chat } from './commands/chat.ts';
import { config } from './commands/config.ts';
import { doctor } from './commands/doctor.ts';
import { helpCommand } from './commands/help.ts';
import { jobsCancel, jobsList, jobsShow } from './commands/jobs.ts';
import { jobsFollow } from './commands/jobs-follow.ts';
import { keyCreate, keyList, keyRevoke } from './commands/keys.ts';
import { migrate } from './commands/migrate.ts';
import { modelsImport } from './commands/models-import.ts';
import { modelsList } from './commands/models-list.ts';
import { modelsLoad, modelsUnload } from './commands/models-memory.ts';
import { modelsPull } from './commands/models-pull.ts';
import { modelsRm } from './commands/models-rm.ts';
import { modelsShow } from './commands/models-show.ts';
import { modelsVerify } from './commands/models-verify.ts';
import { roles } from './commands/roles.ts';
import { serve } from './commands/serve.ts';
import { status } from './commands/status.ts';
import { tenantCreate, tenantList } from './commands/tenants.ts';
import { tlsSelfSigned } from './commands/tls-self-signed.ts';
import { userCreate, userDisable, userEnable, userList, userReset, userRole } from './commands/users.ts';
import { version } from './commands/version.ts';

export const commands: readonly Command[] = [
  ...[serve, status, chat, doctor],
  ...[modelsList, modelsPull, modelsImport, modelsShow, modelsVerify, modelsRm, modelsLoad, modelsUnload],
  ...[adminCreate, userList, userCreate, userRole, userDisable, userEnable, userReset],
  ...[tenantList, tenantCreate, keyList, keyCreate, keyRevoke, audit, auditVerify],
  ...[jobsList, jobsShow, jobsFollow, jobsCancel],
  ...[roles, config, migrate, tlsSelfSigned, bench, version],
  helpCommand(() => commands),
];
