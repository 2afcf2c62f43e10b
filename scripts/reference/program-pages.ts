/** Pages of what the program declares beside its routes: settings, commands, metrics, events. */
import { type Command, globalOptions, type Option, type Options } from '../../ts/cli/command.ts';
import { loadCommands } from '../../ts/cli/commands.ts';
import { exitCodes } from '../../ts/cli/exit-codes.ts';
import { CATALOGUE } from '../../ts/server/domains/webhooks/event-catalogue.ts';
import { environmentName, isSavable, type Setting } from '../../ts/server/platform/config/setting.ts';
import type { MetricsRegistry } from '../../ts/server/platform/metrics/registry.ts';
import { settingsOf } from '../../ts/server/settings.ts';
import { code, page, table } from './markdown.ts';

const GENERATED = 'This page is generated from the code by `npm run format`.';

export function settingsPage(): string {
  const groups = Map.groupBy(Object.entries<Setting>(settingsOf()), ([key]) => (key.includes('.') ? key.split('.')[0] : 'node'));
  const head = ['Key in `svc.toml`', 'Environment', 'Default', 'Meaning'];
  const sections = [...groups].map(([name, settings]) => `## ${name}\n\n${table(head, settings.map(settingRow))}`);
  return page(
    '# Settings',
    'A value comes from the command line of `svc serve`, else from the environment, the settings that were saved in the console, `svc.toml`, or the default.\n' +
      '`svc config` prints each value and where it came from; `svc config --example` writes a file with all of them.\n' +
      'Settings marked † belong to the machine: the console does not save them. [How to configure a node](../operate/configuration.md).',
    GENERATED,
    ...sections,
  );
}

function settingRow([key, setting]: [string, Setting]): string[] {
  const { default: value, help, sections } = setting;
  if (sections !== undefined) return [code(`[${key}."NAME"]`), '', '', help];
  const mark = isSavable(setting) ? '' : ' †';
  return [code(key) + mark, code(environmentName(key)), code(String(value)), help];
}

export async function commandsPage(): Promise<string> {
  const commands = await loadCommands();
  const rows = commands.map((command) => [`[\`${usage(command)}\`](#${anchor(command)})`, command.summary]);
  const exits = Object.values(exitCodes).map(({ code: number, meaning }) => [String(number), meaning]);
  return page(
    '# Commands',
    'In a checkout, write `npx svc ...` after the first `npm start`. `svc help COMMAND` prints what is written here.',
    GENERATED,
    table(['Command', 'What it does'], rows),
    `## Options of every command\n\n${optionsTable(globalOptions)}`,
    `## Exit codes\n\n${table(['Code', 'Meaning'], exits)}`,
    ...commands.map(commandSection),
  );
}

const usage = ({ words, positionals }: Command) => `svc ${[...words, ...positionals.map(({ name }) => name)].join(' ')}`;
const anchor = ({ words }: Command) => `svc-${words.join('-')}`;

function commandSection(command: Command): string {
  const { words, summary, positionals, options, examples } = command;
  const taken = positionals.map(({ name, help, optional, many }) => {
    const notes = [optional ? 'optional' : '', many ? 'several' : ''].filter((note) => note !== '');
    return [code(name), notes.length === 0 ? help : `${help} (${notes.join(', ')})`];
  });
  return [
    `## svc ${words.join(' ')}\n\n${summary}.`,
    ...(taken.length === 0 ? [] : [table(['Argument', ''], taken)]),
    ...(Object.keys(options).length === 0 ? [] : [optionsTable(options)]),
    ...(examples.length === 0 ? [] : [`\`\`\`sh\n${examples.join('\n')}\n\`\`\``]),
  ].join('\n\n');
}

function optionsTable(options: Options): string {
  const rows = Object.entries(options).map(([name, option]) => [code(spelling(name, option)), option.help]);
  return table(['Option', ''], rows);
}

function spelling(name: string, option: Option): string {
  const names = [`--${name}`, ...(option.aliases ?? [])].join(', ');
  if (option.kind === 'flag') return names;
  return `${names} ${option.kind === 'choice' ? option.choices.join('|') : option.value}`;
}

export function metricsPage(metrics: MetricsRegistry): string {
  const families = [...metrics.families()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const rows = families.map(({ name, type, labelNames, help }) => [code(name), type, labelNames.map(code).join(', '), help]);
  return page(
    '# Metrics',
    '`GET /metrics` answers these in the text format of Prometheus. A series appears once there is something to count.\n' +
      '[How to watch a node](../operate/monitoring.md).',
    GENERATED,
    table(['Metric', 'Type', 'Labels', 'Meaning'], rows),
  );
}

export function eventsPage(): string {
  const rows = CATALOGUE.map(({ type, meaning, isOfNode }) => {
    const members = Object.keys((type.schema as { properties?: object }).properties ?? {});
    return [code(type.name), meaning, members.map(code).join(', '), isOfNode ? 'superadmins' : 'administrators'];
  });
  return page(
    '# Events',
    'A webhook gets the events that it asks for: `svc webhook create URL --event NAME`. [How to use webhooks](../admin/webhooks.md).\n' +
      'A delivery holds the name in `type`, the time in `timestamp` and the members below in `data`.',
    GENERATED,
    table(['Event', 'When', 'Members of `data`', 'Who may ask for it'], rows),
  );
}
