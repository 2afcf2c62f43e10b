/** The svc.toml of a package: every setting commented out, but for what the service manager is told otherwise. */
import { exampleConfig } from '../../ts/server/platform/config/example-config.ts';
import { settingsOf } from '../../ts/server/settings.ts';

/** Within TimeoutStopSec of the units, which leaves the rest of the stop ten seconds. */
export const DRAIN_SECONDS = 110;
const DRAIN = /^# (drain_timeout_seconds) = \d+$/m;

export function packagedConfig(): string {
  const example = exampleConfig(settingsOf());
  if (!DRAIN.test(example)) throw new Error('the example of a configuration has no drain_timeout_seconds');
  const note =
    "# Within TimeoutStopSec of the unit, so that an upgrade lets open answers finish; the program's own default is less.";
  const text = example.replace(DRAIN, (_line, name) => `${note}\n${name} = ${DRAIN_SECONDS}`);
  return `# The configuration of svc. Lines with a # are defaults: uncomment what you change, or put it into a file of conf.d.\n${text}`;
}
