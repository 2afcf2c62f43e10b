/** Values of variables: of the right type, within the range, on a step, and equal as far as a device can tell. */
import { iotError } from './errors.ts';
import type { Value, Variable } from './profile.ts';

const MAX_TEXT = 200;
/** Devices write numbers so; JavaScript alone would take more for one, such as an empty text. */
const DECIMAL = /^ ?[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)? ?$/;
/** Doubles carry steps such as 0.1 with a rounding error. */
const STEP_TOLERANCE = 1e-6;
/** Devices keep numbers in 32 bits. */
const FLOAT32_TOLERANCE = 1e-6;

/** Says what is wrong with the type of a value; undefined: nothing is. */
export function typeFault({ name, type }: Pick<Variable, 'name' | 'type'>, value: unknown): string | undefined {
  const isRight = {
    number: typeof value === 'number' && Number.isFinite(value),
    integer: Number.isSafeInteger(value),
    boolean: typeof value === 'boolean',
    text: typeof value === 'string' && value.length <= MAX_TEXT && value.isWellFormed() && !value.includes('\0'),
  }[type];
  return isRight ? undefined : `${name} is ${type === 'integer' ? 'an integer' : `a ${type}`}, which the value is not.`;
}

/** Throws `value_type_mismatch`, `value_out_of_range`. */
export function requireWritableValue(variable: Variable, value: unknown): asserts value is Value {
  const fault = typeFault(variable, value);
  if (fault !== undefined) throw iotError('value_type_mismatch', fault, { param: 'value' });
  if (typeof value !== 'number') return;
  const { name, min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY, step } = variable;
  if (value < min || value > max) throw iotError('value_out_of_range', `${name} goes from ${min} to ${max}.`, { param: 'value' });
  if (step === undefined) return;
  const steps = (value - (variable.min ?? 0)) / step;
  if (Math.abs(steps - Math.round(steps)) > STEP_TOLERANCE * Math.max(1, Math.abs(steps)))
    throw iotError('value_out_of_range', `${name} goes in steps of ${step}.`, { param: 'value' });
}

/** Whether what was read is what was written. */
export function isSameValue({ step }: Pick<Variable, 'step'>, written: Value, read: Value | null): boolean {
  if (typeof written !== 'number' || typeof read !== 'number') return written === read;
  const tolerance = Math.max(FLOAT32_TOLERANCE * Math.abs(written), step === undefined ? 0 : step / 100);
  return Math.abs(written - read) <= tolerance;
}

/** Takes what a device said for the variable's type; undefined: it cannot be that. */
export function valueFrom({ type }: Pick<Variable, 'type'>, raw: unknown): Value | undefined {
  if (type === 'text')
    return typeof raw === 'string' || typeof raw === 'number' || typeof raw === 'boolean'
      ? String(raw).slice(0, MAX_TEXT)
      : undefined;
  if (type === 'boolean') return booleanFrom(raw);
  const number = typeof raw === 'string' && DECIMAL.test(raw) ? Number(raw) : raw;
  if (typeof number !== 'number' || !Number.isFinite(number)) return undefined;
  return type === 'integer' && !Number.isSafeInteger(number) ? undefined : number;
}

const TRUE = new Set(['true', 'on', '1', 'yes', 'open']);
const FALSE = new Set(['false', 'off', '0', 'no', 'closed']);

function booleanFrom(raw: unknown): boolean | undefined {
  if (typeof raw === 'boolean') return raw;
  const text = String(raw).trim().toLowerCase();
  if (TRUE.has(text)) return true;
  return FALSE.has(text) ? false : undefined;
}

/** Puts the value where a template has the text "{value}"; without a template the value stands alone. */
export function filled(template: unknown, value: Value): unknown {
  if (template === undefined || template === '{value}') return value;
  if (typeof template === 'string') return template.replaceAll('{value}', () => String(value));
  if (Array.isArray(template)) return template.map((item) => filled(item, value));
  if (typeof template !== 'object' || template === null) return template;
  return Object.fromEntries(
    Object.entries(template).map(([name, member]) => [name, member === undefined ? member : filled(member, value)]),
  );
}

/** The value at a JSON pointer (RFC 6901); undefined: there is none. */
export function valueAt(document: unknown, pointer = ''): unknown {
  let at = document;
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as Record<string, unknown>)[name];
  }
  return at;
}

/** A time that a device sent: ISO 8601, or seconds or milliseconds since 1970. Undefined: it is none. */
export function timeFrom(raw: unknown): number | undefined {
  if (typeof raw === 'number' && Number.isFinite(raw) && raw > 0) return Math.round(raw < 1e11 ? raw * 1000 : raw);
  if (typeof raw !== 'string' || !/^\d{4}-\d\d-\d\dT/.test(raw)) return undefined;
  const at = Date.parse(raw);
  return Number.isNaN(at) ? undefined : at;
}
