/** Everything that `svc doctor` looks at. */
import type { Config } from '../../server/platform/config/config.ts';
import { CliError } from '../cli-error.ts';
import type { Invocation } from '../command.ts';
import { readConfig } from '../configuration.ts';
import { broken, type Check, type CheckContext, type Finding, ok } from './check.ts';
import { clusterCheck } from './cluster-check.ts';
import { listenerCheck, publicListenerCheck } from './port-checks.ts';
import { cpuCheck, ffmpegCheck, memoryCheck, nativeCheck, nodeCheck } from './runtime-checks.ts';
import { databaseCheck, dataCheck, defaultModelCheck, modelsCheck, modelsFolderCheck } from './storage-checks.ts';

const machineChecks: readonly Check[] = [nodeCheck, cpuCheck, memoryCheck, nativeCheck, ffmpegCheck];
const configuredChecks: readonly Check[] = [
  dataCheck,
  databaseCheck,
  modelsFolderCheck,
  modelsCheck,
  defaultModelCheck,
  listenerCheck,
  publicListenerCheck,
  clusterCheck,
];

type NamedFinding = Finding & { name: string };

/** A configuration that cannot be read is a finding, and what does not depend on it is checked all the same. */
export async function examine(invocation: Invocation): Promise<NamedFinding[]> {
  const { env } = invocation;
  let config: Config | undefined;
  let configuration: Finding = ok('every setting is valid');
  try {
    config = readConfig(invocation);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    configuration = broken(error.message, error.remedy);
  }
  const checks = config ? [...machineChecks, ...configuredChecks] : machineChecks;
  const context = { config, env } as CheckContext;
  const findings: NamedFinding[] = [{ name: 'configuration', ...configuration }];
  for (const check of checks) findings.push({ name: check.name, ...(await runCheck(check, context)) });
  return findings;
}

async function runCheck(check: Check, context: CheckContext): Promise<Finding> {
  try {
    return await check.run(context);
  } catch (error) {
    return broken(error instanceof Error ? error.message : String(error), 'correct what the message names');
  }
}
