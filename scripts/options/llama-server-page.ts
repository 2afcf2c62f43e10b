/** docs/llama-server.md: each option of llama-server, and what does the same here. */
import { engineOptions } from '../../ts/server/native/options/engine-options.ts';
import { loadOptions } from '../../ts/server/native/options/load-options.ts';
import type { Option } from '../../ts/server/native/options/option.ts';
import { samplingOptions } from '../../ts/server/native/options/sampling-options.ts';
import { otherLlamaServerOptions } from './llama-server-options.ts';

export const llamaServerPage = 'docs/llama-server.md';

const head = `# From llama-server

Each option of llama-server at the pinned version, and what does the same here. Keys with dots stand in \`svc.toml\`; those of \`[inference]\`
that concern a model or its context may stand in its own section, \`[models."NAME"]\`, too. Members of a request have llama-server's names.
What says "not yet" may come; what says "no" has its reason beside it. This page is written by \`npm run options\`.

| llama-server | here |
| --- | --- |
`;

interface Row {
  flags: string;
  here: string;
}

function rows(): Row[] {
  const ours = Object.values<Option>({ ...engineOptions, ...loadOptions, ...samplingOptions }).flatMap((option) =>
    option.flags === undefined ? [] : [{ flags: option.flags.join(' '), here: hereOf(option) }],
  );
  return [...ours, ...otherLlamaServerOptions.map(([flags, here]) => ({ flags, here }))];
}

function hereOf({ setting, wire }: Option): string {
  return setting === undefined ? `\`${wire?.name}\` of the request` : `\`${setting}\``;
}

export function renderLlamaServerPage(): string {
  const sorted = rows().sort((a, b) => (bareName(a) < bareName(b) ? -1 : 1));
  const lines = sorted.map(({ flags, here }) => `| ${flags.split(' ').map(code).join(' ')} | ${here} |`);
  return `${head}${lines.join('\n')}\n`;
}

/** Every flag that the page has a row for. */
export function listedFlags(): string[] {
  return rows().flatMap(({ flags }) => flags.split(' '));
}

/** Of a server's own options in llama.cpp's common/arg.cpp: those without examples named, and those of the server. */
export function flagsOfServer(argumentsSource: string): string[] {
  const blocks = argumentsSource.split('add_opt(common_arg(').slice(1);
  return blocks.flatMap((block) => {
    const examples = /set_examples\(\{([^}]*)\}/.exec(block)?.[1] ?? 'SERVER';
    if (!/SERVER|COMMON/.test(examples)) return [];
    const names = /^\s*\{([^}]*)\}(?:\s*,\s*\{([^}]*)\})?/.exec(block);
    return [...`${names?.[1]} ${names?.[2]}`.matchAll(/"(-[^"]+)"/g)].map(([, flag = '']) => flag);
  });
}

const code = (flag: string) => `\`${flag}\``;

function bareName({ flags }: Row): string {
  const long = flags.split(' ').find((flag) => flag.startsWith('--')) ?? flags;
  return long.replace(/^-+/, '');
}
