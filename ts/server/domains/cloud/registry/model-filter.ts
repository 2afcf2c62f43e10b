/** Says which of a provider's models are offered here, and under which names. */
import type { ListedModel } from '../kinds/kind.ts';

export interface ModelFilter {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** Name here -> the provider's own. */
  readonly alias: Readonly<Record<string, string>>;
}

/** Like a path of a few folders: nothing in it leads elsewhere, and nothing has to be escaped where it is shown. */
const NAME = /^[A-Za-z0-9][\w.:@+-]{0,127}(?:\/[A-Za-z0-9][\w.:@+-]{0,127}){0,3}$/;

export function isModelName(name: string): boolean {
  return name.length <= 200 && NAME.test(name) && !name.includes('..');
}

/** Name here -> the provider's model. Names of the filter without a star need no list. */
export function offeredModels(
  { include, exclude, alias }: ModelFilter,
  listed: readonly ListedModel[],
): Map<string, ListedModel> {
  const byId = new Map(listed.filter(({ id }) => isModelName(id)).map((model) => [model.id, model]));
  for (const name of include) if (!name.includes('*') && isModelName(name) && !byId.has(name)) byId.set(name, { id: name });
  const included = include.map(patternOf);
  const excluded = exclude.map(patternOf);
  const offered = new Map<string, ListedModel>();
  for (const [id, model] of byId)
    if (included.some((pattern) => pattern(id)) && !excluded.some((pattern) => pattern(id))) offered.set(id, model);
  for (const [name, id] of Object.entries(alias)) offered.set(name, byId.get(id) ?? { id });
  return offered;
}

/** A star stands for any characters. */
function patternOf(pattern: string): (name: string) => boolean {
  const parts = pattern.split('*');
  if (parts.length === 1) return (name) => name === pattern;
  const [first = ''] = parts;
  const last = parts.at(-1) ?? '';
  return (name) => {
    if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false;
    let at = first.length;
    for (const part of parts.slice(1, -1)) {
      at = name.indexOf(part, at);
      if (at === -1) return false;
      at += part.length;
    }
    return at <= name.length - last.length;
  };
}
