/** Makes records of one form of the text of an answer. Pure: whatever a source sends ends in records or an AnswerFault. */
import { csvRows } from '../../../extraction/text/csv.ts';
import type { Adapter, Operation } from '../adapters/adapter.ts';
import { dateOf, textsOf } from './field.ts';
import { isObject, type Place, textAt, textOf, valuesAt } from './value-at.ts';
import { readXmlTree } from './xml-tree.ts';

/** The answer has another form than the adapter says. */
export class AnswerFault extends Error {
  override readonly name = 'AnswerFault';
}

interface ScienceValue {
  readonly name: string;
  readonly value: number | string;
  readonly unit: string | null;
}

export interface ScienceRecord {
  readonly id: string;
  readonly source: string;
  readonly kind: string;
  readonly title: string;
  readonly creators: readonly string[];
  readonly date: string | null;
  readonly url: string | null;
  readonly doi?: string;
  readonly summary?: string;
  readonly values?: readonly ScienceValue[];
  readonly license: string;
  readonly retrieved_at: string;
}

export interface AnswerPage {
  readonly records: readonly ScienceRecord[];
  /** How many the source says there are in all. */
  readonly total: number | undefined;
  /** How many it sent, whether they could be read or not. */
  readonly nSent: number;
  /** Where the next page begins, as the source names it. */
  readonly next: string | undefined;
}

type Form = Operation['form'];

const MOST_DEPTH = 64;
const MOST_ROWS = 5_000;
const MOST_SUMMARY = 4_000;
const DOI = /10\.\d{4,9}\/[^\s"<>]{1,300}/;

export function readAnswer(adapter: Adapter, operation: Operation, text: string, retrievedAt: Date): AnswerPage {
  const root = parseAnswer(operation.form, text, operation.separator);
  const place = { record: root, root };
  const items = operation.is_columns === true ? rowsOfColumns(place, operation.records) : valuesAt(place, operation.records);
  const sent = items.filter((item) => isObject(item) && Object.keys(item).length > 0).slice(0, MOST_ROWS);
  const records = sent.map((record) => readRecord(adapter, operation, { record, root }, retrievedAt));
  return {
    records: records.filter((record) => record !== undefined),
    total: operation.total === undefined ? undefined : countOf(textAt(place, operation.total)),
    nSent: sent.length,
    next: operation.paging?.next === undefined ? undefined : textAt(place, operation.paging.next),
  };
}

/** The ids that a first answer has, and how many there are in all. */
export function readIds(
  { ids, total }: NonNullable<Operation['first']>,
  text: string,
): { ids: readonly string[]; total: number | undefined } {
  const root = parseAnswer('json', text);
  const place = { record: root, root };
  const found = valuesAt(place, ids).map(textOf);
  return {
    ids: found.filter((id): id is string => id !== undefined && /^[\w.:-]{1,100}$/.test(id)),
    total: total === undefined ? undefined : countOf(textAt(place, total)),
  };
}

function parseAnswer(form: Form, text: string, separator = ','): unknown {
  const whole = text.startsWith('\uFEFF') ? text.slice(1) : text;
  try {
    if (form === 'xml') return readXmlTree(whole);
    return form === 'csv' ? readTable(whole, separator) : checkedJson(JSON.parse(whole));
  } catch (error) {
    throw new AnswerFault(`the answer is no ${form.toUpperCase()} that can be read: ${(error as Error).message.slice(0, 120)}`);
  }
}

/** Throws where values lie deeper than any source of records has them. */
function checkedJson(value: unknown): unknown {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MOST_DEPTH) throw new Error('values lie too deep');
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
    level = level.filter((one) => typeof one === 'object' && one !== null);
  }
  return value;
}

/** Rows by the names of the first one. Lines before it that begin with `#` are remarks. */
function readTable(text: string, separator: string): { rows: unknown[] } {
  const rows: Record<string, string>[] = [];
  let names: readonly string[] | undefined;
  for (const cells of csvRows(text, separator)) {
    if (cells.length === 1 && cells[0] === '') continue;
    if (names === undefined) {
      if (cells[0]?.startsWith('#') === true) continue;
      if (cells.length < 2) throw new Error('the first line names no columns');
      names = cells.map((cell) => cell.trim());
      continue;
    }
    const row = Object.create(null) as Record<string, string>;
    for (const [i, name] of names.entries()) row[name] = cells[i] ?? '';
    rows.push(row);
    if (rows.length >= MOST_ROWS) break;
  }
  if (names === undefined) throw new Error('it is empty');
  return { rows };
}

function rowsOfColumns(place: Place, path: string): unknown[] {
  const [columns] = valuesAt(place, path);
  if (!isObject(columns)) return [];
  const lists = Object.entries(columns).filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]));
  const nRows = Math.min(MOST_ROWS, Math.max(0, ...lists.map(([, list]) => list.length)));
  return Array.from({ length: nRows }, (_, i) => {
    const row = Object.create(null) as Record<string, unknown>;
    for (const [name, list] of lists) row[name] = list[i];
    return row;
  });
}

/** Undefined: what was sent has no id or no title. */
function readRecord(adapter: Adapter, { record: fields }: Operation, place: Place, retrievedAt: Date): ScienceRecord | undefined {
  const first = (field: (typeof fields)['id'] | undefined): string | undefined => textsOf(place, field)[0];
  const id = first(fields.id);
  const title = first(fields.title);
  if (id === undefined || title === undefined) return undefined;
  const [doi] = DOI.exec(first(fields.doi) ?? '') ?? [];
  const summary = first(fields.summary)?.slice(0, MOST_SUMMARY);
  const values = (fields.values ?? []).flatMap(({ name, value, unit }) => {
    const text = first(value);
    return text === undefined ? [] : [{ name, value: numberOf(text), unit: first(unit) ?? null }];
  });
  const url = first(fields.url);
  return {
    id: id.slice(0, 500),
    source: adapter.id,
    kind: fields.kind,
    title: title.replace(/\s+/g, ' ').slice(0, 1_000),
    creators: textsOf(place, fields.creators).map((creator) => creator.slice(0, 300)),
    date: dateOf(first(fields.date) ?? '') ?? null,
    url: url !== undefined && /^https?:\/\/[^\s<>"]{1,2000}$/i.test(url) ? url : null,
    ...(doi !== undefined && { doi: doi.toLowerCase().replace(/(?<![.,;)])[.,;)]+$/, '') }),
    ...(summary !== undefined && { summary }),
    ...(values.length > 0 && { values }),
    license: first(fields.license)?.slice(0, 200) ?? adapter.license,
    retrieved_at: retrievedAt.toISOString(),
  };
}

function numberOf(text: string): number | string {
  return /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?$/.test(text) && Number.isFinite(Number(text))
    ? Number(text)
    : text.slice(0, 500);
}

function countOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
