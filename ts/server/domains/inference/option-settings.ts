/** Settings made of a table of options, and their values as the engine takes them. */
import Type, { type TSchema, type TUnsafe } from 'typebox';
import type { Option, OptionTable, OptionValue, OptionValues } from '../../native/options/option.ts';
import { listOf, type Setting } from '../../platform/config/setting.ts';

type Key<O> = O extends { setting: infer S extends string } ? S : never;

/** A value as svc.toml says it: lists are one text with commas, and what is automatic has a word for it. */
type Value<O> = O extends { kind: 'texts' | 'numbers' }
  ? string
  : O extends { kind: 'boolean'; default: boolean }
    ? boolean
    : O extends { kind: 'boolean' }
      ? 'auto' | 'on' | 'off'
      : OptionValue<O>;

export type OptionSettings<T> = { readonly [K in keyof T as Key<T[K]>]: Setting<TUnsafe<Value<T[K]>>> };

/** The values by the keys of svc.toml. */
export type OptionSettingValues<T> = { readonly [K in keyof T as Key<T[K]>]?: Value<T[K]> };

const number = String.raw`\d{1,7}(\.\d{1,6})?`;
const maxTextLength = 4096;

export function settingsOfOptions<const T extends OptionTable>(table: T): OptionSettings<T> {
  const settings = Object.values<Option>(table).flatMap((option) =>
    option.setting === undefined ? [] : [[option.setting, settingOf(option)]],
  );
  return Object.fromEntries(settings) as OptionSettings<T>;
}

function settingOf(option: Option): Setting {
  const { help } = option;
  switch (option.kind) {
    case 'integer': {
      // Numbers that JSON cannot hold exactly are no values of a setting.
      const maximum = Math.min(option.maximum, Number.MAX_SAFE_INTEGER);
      return {
        schema: Type.Integer({ minimum: option.minimum, maximum }),
        default: option.settingDefault ?? option.default,
        help,
      };
    }
    case 'number':
      return { schema: Type.Number({ minimum: option.minimum, maximum: option.maximum }), default: option.default, help };
    case 'boolean':
      return option.default === undefined
        ? { schema: Type.Enum(['auto', 'on', 'off']), default: 'auto', help }
        : { schema: Type.Boolean(), default: option.default, help };
    case 'choice':
      return { schema: Type.Enum(Object.keys(option.choices)), default: option.default, help };
    case 'texts':
      return {
        schema: list(option.pattern ?? '[^,]+', option.most),
        default: '',
        help,
        accepts: 'a list with commas between, as below',
      };
    case 'numbers':
      return { schema: list(number, option.most), default: '', help, accepts: 'numbers with commas between' };
    case 'text':
    case 'choices':
      throw new Error(`no setting is of the kind ${option.kind}`);
  }
}

function list(item: string, most: number): TSchema {
  return Type.String({ maxLength: maxTextLength, pattern: `^( *${item} *(, *${item} *){0,${most - 1}})?$` });
}

/** Returns the options that the settings name; absent ones are left out. */
export function optionsFromSettings<const T extends OptionTable>(table: T, values: OptionSettingValues<T>): OptionValues<T> {
  const options = Object.entries<Option>(table).flatMap(([key, option]) => {
    const raw = option.setting === undefined ? undefined : (values as Record<string, unknown>)[option.setting];
    const value = raw === undefined ? undefined : optionOf(option, raw);
    return value === undefined ? [] : [[key, value]];
  });
  return Object.fromEntries(options) as OptionValues<T>;
}

function optionOf(option: Option, value: unknown): unknown {
  switch (option.kind) {
    case 'boolean':
      return typeof value === 'boolean' ? value : value === 'auto' ? undefined : value === 'on';
    case 'texts':
      return listOf(String(value));
    case 'numbers':
      return listOf(String(value)).map(Number);
    default:
      return value;
  }
}
