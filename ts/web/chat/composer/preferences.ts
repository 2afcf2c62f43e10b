/** What a conversation is answered with; kept in its metadata. A new one begins without. */

export interface Preferences {
  system: string;
  temperature: number | undefined;
  top_p: number | undefined;
  max_tokens: number | undefined;
  /** Names of knowledge bases that answers are looked up in. */
  knowledge: string[];
  /** The model may call tools of the node. */
  uses_tools: boolean;
}

export const NO_PREFERENCES: Preferences = {
  system: '',
  temperature: undefined,
  top_p: undefined,
  max_tokens: undefined,
  knowledge: [],
  uses_tools: false,
};

const MAX_SYSTEM_LENGTH = 20_000;

/** Reads metadata, which other clients may have written. */
export function readPreferences(metadata: Readonly<Record<string, unknown>> | null | undefined): Preferences {
  const given = metadata ?? {};
  const number = (value: unknown): number | undefined =>
    typeof value === 'number' && Number.isFinite(value) ? value : undefined;
  return {
    system: typeof given['system'] === 'string' ? given['system'].slice(0, MAX_SYSTEM_LENGTH) : '',
    temperature: number(given['temperature']),
    top_p: number(given['top_p']),
    max_tokens: number(given['max_tokens']),
    knowledge: Array.isArray(given['knowledge']) ? given['knowledge'].filter((name) => typeof name === 'string') : [],
    uses_tools: given['uses_tools'] === true,
  };
}

/** Members that say something, for metadata and for requests. */
export function givenPreferences({ system, knowledge, uses_tools: usesTools, ...numbers }: Preferences): Record<string, unknown> {
  const given = Object.entries(numbers).filter(([, value]) => value !== undefined);
  return {
    ...Object.fromEntries(given),
    ...(system === '' ? {} : { system }),
    ...(knowledge.length === 0 ? {} : { knowledge }),
    ...(usesTools && { uses_tools: true }),
  };
}
