/** The load client's process: one job as JSON in its first argument, one sample as JSON on its standard output. */
import type { ChatLoad } from '../load/load.ts';
import type { Sample } from '../trial.ts';
import { runAbortStorm } from './abort-storm.ts';
import { runAborts } from './aborts.ts';
import { runClosedLoop } from './closed-loop.ts';
import { runConversations } from './conversations.ts';
import { runCredentials } from './credentials.ts';
import { runIdleStreams } from './idle-streams.ts';
import { runLargeBodies } from './large-bodies.ts';
import { runLongStream } from './long-stream.ts';
import { runModelSwitch } from './model-switch.ts';
import { runPoisson } from './poisson.ts';
import type { ScenarioContext } from './scenario.ts';
import { runStaged } from './staged.ts';
import { runTenantBudget } from './tenant-budget.ts';
import { runTenants } from './tenants.ts';

function run(context: ScenarioContext, load: ChatLoad): Promise<Sample> {
  switch (load.kind) {
    case 'closed':
      return runClosedLoop(context, load);
    case 'poisson':
      return runPoisson(context, load);
    case 'conversations':
      return runConversations(context, load);
    case 'staged':
      return runStaged(context, load);
    case 'aborts':
      return runAborts(context, load);
    case 'abort-storm':
      return runAbortStorm(context, load);
    case 'idle-streams':
      return runIdleStreams(context, load);
    case 'tenants':
      return runTenants(context, load);
    case 'tenant-budget':
      return runTenantBudget(context, load);
    case 'credentials':
      return runCredentials(context, load);
    case 'model-switch':
      return runModelSwitch(context, load);
    case 'long-stream':
      return runLongStream(context, load);
    case 'large-bodies':
      return runLargeBodies(context, load);
  }
}

const { load, ...context } = JSON.parse(process.argv[2] ?? '') as ScenarioContext & { load: ChatLoad };
const sample = await run(context, load);
const { user, system } = process.cpuUsage();
console.log(JSON.stringify({ ...sample, clientCpuSeconds: (user + system) / 1e6 }));
// Connections whose answers nobody waits for must not keep the process.
process.exit(0);
