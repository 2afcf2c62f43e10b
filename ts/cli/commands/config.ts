import { effectiveConfig } from '../../server/platform/config/effective-config.ts';
import { exampleConfig } from '../../server/platform/config/example-config.ts';
import { settingsOf } from '../../server/settings.ts';
import { command } from '../command.ts';
import { readConfig } from '../configuration.ts';
import { formatTable, printable } from '../format.ts';

export const config = command({
  words: ['config'],
  summary: 'Show every setting, its value and where that came from',
  options: { example: { kind: 'flag', help: 'print a commented svc.toml with every setting and its default instead' } },
  examples: ['svc config', 'svc config --example > /etc/svc/svc.toml', 'SVC_LISTEN=127.0.0.1:9000 svc config --json'],
  async run(invocation) {
    if (invocation.options.example === true) {
      const text = exampleConfig(settingsOf());
      invocation.terminal.result({ toml: text }, text.trimEnd());
      return 'ok';
    }
    const effective = effectiveConfig(readConfig(invocation));
    const rows = effective.map(({ key, value, origin, environment }) => [key, printable(value), origin, environment]);
    const records = effective.map(({ value, ...rest }) => ({ ...rest, value: JSON.parse(value) as unknown }));
    invocation.terminal.result(records, formatTable(['SETTING', 'VALUE', 'FROM', 'ENVIRONMENT'], rows));
    return 'ok';
  },
});
