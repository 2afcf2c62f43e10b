/** The modules of this program. A new one is a folder below domains/ and a line here. */
import { backup } from './domains/backup/index.ts';
import { cloud } from './domains/cloud/index.ts';
import { cluster } from './domains/cluster/index.ts';
import { comm } from './domains/comm/index.ts';
import { completions } from './domains/completions/index.ts';
import { conversations } from './domains/conversations/index.ts';
import { data } from './domains/data/index.ts';
import { edge } from './domains/edge/index.ts';
import { files } from './domains/files/index.ts';
import { identity } from './domains/identity/index.ts';
import { inference } from './domains/inference/index.ts';
import { iot } from './domains/iot/index.ts';
import { license } from './domains/license/index.ts';
import { logs } from './domains/logs/index.ts';
import { media } from './domains/media/index.ts';
import { memory } from './domains/memory/index.ts';
import { metering } from './domains/metering/index.ts';
import { pages } from './domains/pages/index.ts';
import { retrieval } from './domains/retrieval/index.ts';
import { science } from './domains/science/index.ts';
import { scim } from './domains/scim/index.ts';
import { security } from './domains/security/index.ts';
import { swarm } from './domains/swarm/index.ts';
import { syslog } from './domains/syslog/index.ts';
import { system } from './domains/system/index.ts';
import { webhooks } from './domains/webhooks/index.ts';
import type { AnyModuleDefinition } from './platform/module/module.ts';

export const modules: readonly AnyModuleDefinition[] = [
  identity,
  license,
  metering,
  syslog,
  security,
  inference,
  files,
  retrieval,
  media,
  data,
  conversations,
  memory,
  cloud,
  cluster,
  edge,
  logs,
  science,
  iot,
  comm,
  completions,
  swarm,
  scim,
  backup,
  webhooks,
  pages,
  system,
];
