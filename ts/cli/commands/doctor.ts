import type { Config } from '../../server/platform/config/config.ts';
import { CliError } from '../cli-error.ts';
import { command, type Invocation } from '../command.ts';
import { readConfig } from '../configuration.ts';
import { broken, type Check, type CheckContext, type Finding, ok } from '../doctor/check.ts';
import { listenerCheck, publicListenerCheck } from '../doctor/port-checks.ts';
import { cpuCheck, memoryCheck, nativeCheck, nodeCheck } from '../doctor/runtime-checks.ts';
import { dataCheck, defaultModelCheck, modelsCheck, modelsFolderCheck } from '../doctor/storage-checks.ts';

const machineChecks: readonly Check[] = [nodeCheck, cpuCheck, memoryCheck, nativeCheck];
const configuredChecks: readonly Check[] = [
  dataCheck,
  modelsFolderCheck,
  modelsCheck,
  defaultModelCheck,
  listenerCheck,
  publicListenerCheck,
];

type NamedFinding = Finding & { name: string };

export const doctor = command({
  words: ['doctor'],
  summary: 'Check this machine, the configuration and the models, and say what to do',
  examples: ['svc doctor', 'svc doctor --json'],
  async run(invocation) {
    const findings = await examine(invocation);
    const isBroken = findings.some(({ state }) => state === 'broken');
    const lines = findings.map(
      ({ name, state, finding, remedy }) =>
        `${marks[state]} ${name.padEnd(16)} ${finding}${remedy === undefined ? '' : `\n${' '.repeat(25)}-> ${remedy}`}`,
    );
    const conclusion = isBroken ? 'Something is broken.' : 'Nothing is broken.';
    invocation.terminal.result({ ok: !isBroken, checks: findings }, [...lines, '', conclusion].join('\n'));
    return isBroken ? 'failed' : 'ok';
  },
});

const marks = { ok: 'ok     ', warning: 'warning', broken: 'BROKEN ' } as const;

/** A configuration that cannot be read is a finding, and what does not depend on it is checked all the same. */
async function examine(invocation: Invocation): Promise<NamedFinding[]> {
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
