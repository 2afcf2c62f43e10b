/** What one setting is: schema, default, meaning. A module declares its own as a `SettingsSpec`. */
import Type, { type Static, type TSchema } from 'typebox';

export interface Setting<S extends TSchema = TSchema> {
  schema: S;
  default: Static<S>;
  help: string;
  /** In words, for the sentence of a refusal; absent: what the schema says. */
  accepts?: string;
  /** A path: relative ones count from the file that names it, else from the working directory. */
  isPath?: boolean;
  /** An empty value means `name` inside the folder that the setting `key` names. */
  insideOf?: { key: string; name: string };
  /** Its value is one table for each name below it, `[key."NAME"]` in the file alone; these are their members. */
  sections?: SettingsSpec;
  /** Of a member of such a table: the key that holds where the table does not name it. */
  inherits?: string;
  /** It is set on the machine alone: where the node lies and listens, and what keeps its administrators from reaching further. */
  isOfMachine?: boolean;
  /** It takes effect when it is saved, without a restart. */
  isLive?: boolean;
  /** How the value is shown, when it may hold a secret. */
  mask?: (value: string) => string;
}

/** Settings by dotted key, for example 'inference.ctx'. */
export type SettingsSpec = Readonly<Record<string, Setting>>;

/** Checked values by dotted key. */
export type SettingValues<S extends SettingsSpec> = { readonly [K in keyof S]: Static<S[K]['schema']> };

export function setting<S extends TSchema>(
  schema: S,
  value: Static<S>,
  help: string,
  more: Partial<Setting<S>> = {},
): Setting<S> {
  return { schema, default: value, help, ...more };
}

export const integerSchema = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum });
export const pathSchema = Type.String({ maxLength: 4096 });
export const textSchema = Type.String({ maxLength: 4096 });

/** Names and addresses separated by commas, as one text. */
export function listOf(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** Whether an administrator may save a value while the node runs. Paths, and values that are never shown, belong to the machine. */
export function isSavable({ isOfMachine = false, isPath = false, sections, mask }: Setting): boolean {
  return !isOfMachine && !isPath && sections === undefined && mask?.('shown') !== SECRET;
}

/** What is shown of a secret. */
export const SECRET = '***';

/** The variable that sets a key: SVC_ and the key in capitals, dots as underscores. */
export function environmentName(key: string): string {
  return `SVC_${key.replaceAll('.', '_').toUpperCase()}`;
}

/** What may be shown of a value, as JSON text. */
export function shownValue({ mask }: Setting, value: unknown): string {
  return JSON.stringify(mask !== undefined && typeof value === 'string' ? mask(value) : value) ?? 'nothing';
}

export function maskUserInfo(url: string): string {
  return url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/i, '$1***@');
}
