/** Environment variables that begin like a setting's and are none: a typo would otherwise do nothing, silently. */
import { closestName } from '../text/closest-name.ts';
import { environmentName } from './setting.ts';

/** Read outside the configuration: by the launcher, set-up, tests and the native loader. */
const otherVariables = [
  /^SVC_CONFIG$/,
  /^SVC_(CACHE_DIR|PRESET|NATIVE_DIR|FORCE_CPU_FEATURES|CPU_VARIANTS?)$/,
  /^SVC_(LLAMA_CPP|WHISPER_CPP|USEARCH)_DIR$/,
  /^SVC_(TEST|BENCH|SYSLOG)_/,
];

/** One sentence for each, with the setting that was probably meant. */
export function findUnknownVariables(
  environment: Readonly<Record<string, string | undefined>>,
  keys: readonly string[],
): string[] {
  const known = keys.map(environmentName);
  return Object.keys(environment)
    .filter((name) => name.startsWith('SVC_') && !known.includes(name) && !otherVariables.some((other) => other.test(name)))
    .map((name) => {
      const near = closestName(name, known);
      const hint = near === undefined ? '`svc config` lists the known ones' : `did you mean ${near}?`;
      return `the environment variable ${name.slice(0, 80)} is no setting and does nothing; ${hint}`;
    });
}
