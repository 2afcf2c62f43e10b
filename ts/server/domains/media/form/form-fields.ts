/** The fields of a form as values: clients write everything as text. */
import { mediaError } from '../errors.ts';

/** Names of OpenAI for who goes first: `flex` waits for all others. */
export const SERVICE_TIERS = ['auto', 'default', 'flex', 'priority', 'fast'] as const;

export class FormFields {
  readonly #values: ReadonlyMap<string, readonly string[]>;

  constructor(values: ReadonlyMap<string, readonly string[]>) {
    this.#values = values;
  }

  /** Throws invalid_request for a field of another name. */
  refuseOthers(known: readonly string[]): void {
    for (const name of this.#values.keys()) if (!known.includes(name)) throw wrong(name, `${name} is no field of this form.`);
  }

  /** The last value of the name; undefined: it is absent or empty. */
  text(name: string, mostBytes = 4_096): string | undefined {
    const value = this.#values.get(name)?.at(-1) || undefined;
    if (value !== undefined && Buffer.byteLength(value) > mostBytes) throw wrong(name, `${name} has at most ${mostBytes} bytes.`);
    return value;
  }

  choice<T extends string>(name: string, allowed: readonly T[]): T | undefined {
    const value = this.text(name);
    return value === undefined ? undefined : oneOf(name, value, allowed);
  }

  boolean(name: string, absent: boolean): boolean {
    const value = this.choice(name, ['true', 'false', '1', '0']);
    return value === undefined ? absent : value === 'true' || value === '1';
  }

  number(name: string, least: number, most: number): number | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const number = /^\d{1,9}(\.\d{1,9})?$/.test(value) ? Number(value) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw wrong(name, `${name} must be a number from ${least} to ${most}.`);
  }

  integer(name: string, least: number, most: number): number | undefined {
    const number = this.number(name, least, most);
    if (number !== undefined && !Number.isInteger(number)) throw wrong(name, `${name} must be a whole number.`);
    return number;
  }

  /** Clients write a list as several fields, with brackets behind the name or without, or as one with commas. */
  list(name: string): string[] {
    const given = [...(this.#values.get(name) ?? []), ...(this.#values.get(`${name}[]`) ?? [])];
    return given
      .flatMap((value) => value.split(','))
      .map((value) => value.trim())
      .filter((value) => value !== '');
  }

  listOf<T extends string>(name: string, allowed: readonly T[]): T[] {
    return this.list(name).map((value) => oneOf(name, value, allowed));
  }
}

function oneOf<T extends string>(name: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((each) => each === value);
  if (found === undefined) throw wrong(name, `${name} must be one of ${allowed.join(', ')}.`);
  return found;
}

export function wrong(param: string, sentence: string): Error {
  return mediaError('invalid_request', sentence, { param: param.slice(0, 80) });
}

/** Throws invalid_language. */
export function readLanguage(fields: FormFields, isLanguage: (code: string) => boolean): string | undefined {
  const language = fields.text('language')?.toLowerCase();
  if (language === undefined || isLanguage(language)) return language;
  throw mediaError('invalid_language', `Speech models know no language ${JSON.stringify(language.slice(0, 80))}.`, {
    param: 'language',
  });
}
