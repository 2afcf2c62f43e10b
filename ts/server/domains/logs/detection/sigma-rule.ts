/** Rules as Sigma YAML: a file has rules of single lines, and correlations of them. What cannot be done here refuses the whole file with a reason. */
import { parseAllDocuments } from 'yaml';
import type { LineFields, ParsedLine, ParserName } from './line-fields.ts';
import { type Condition, conditionOf } from './sigma-condition.ts';
import { fieldTest, InvalidRule, Unsupported } from './sigma-value.ts';

export const LEVELS = ['informational', 'low', 'medium', 'high', 'critical'] as const;
export type Level = (typeof LEVELS)[number];

/** A rule of single lines. */
export interface LineRule {
  kind: 'line';
  /** Correlations call it by them: its name and its id. */
  names: readonly string[];
  matches(line: ParsedLine): boolean;
}

type CorrelationType = 'event_count' | 'value_count' | 'temporal' | 'temporal_ordered';

/** A correlation of what rules found. */
export interface CorrelationRule {
  kind: 'correlation';
  names: readonly string[];
  type: CorrelationType;
  /** Names of rules, of the same file or of another one. */
  rules: readonly string[];
  groupBy: readonly string[];
  timespanMs: number;
  /** Alerts from so many on; of those in time, the number of rules. */
  least: number;
  /** Its values are counted. */
  field: string | undefined;
  /** Whether the rules of the file that it names alert by themselves too. */
  generates: boolean;
}

/** A file of rules; what is shown is the last document's, which the others serve. */
export interface RuleFile {
  title: string;
  level: Level;
  author: string;
  /** Alerts of the same family and entity are one incident. */
  family: string | undefined;
  documents: readonly (LineRule | CorrelationRule)[];
}

/** A file as it says of itself; `unsupported`: why none of it is applied. */
export interface ReadRule {
  title: string;
  level: Level;
  author: string;
  unsupported: string | null;
  file: RuleFile | undefined;
}

type Members = Readonly<Record<string, unknown>>;

export const MOST_RULE_BYTES = 64 * 1024;
const MOST_DOCUMENTS = 20;
const MOST_TEXT = 300;
/** A correlation that waits for more would hold too much. */
const MOST_COUNTED = 1_000;
const MOST_TIMESPAN_MS = 7 * 24 * 3_600_000;

/** Throws InvalidRule for a text that is no rule. */
export function readRule(yaml: string): ReadRule {
  const documents = documentsOf(yaml);
  const last = documents.at(-1) as Members;
  const shown = { title: textOf(last, 'title'), level: levelOf(last['level']), author: authorOf(documents) };
  try {
    const read = documents.map(documentOf);
    return { ...shown, unsupported: null, file: { ...shown, family: familyOf(last), documents: read } };
  } catch (error) {
    if (error instanceof Unsupported) return { ...shown, unsupported: error.message, file: undefined };
    throw error;
  }
}

function documentsOf(yaml: string): Members[] {
  if (Buffer.byteLength(yaml) > MOST_RULE_BYTES) throw new InvalidRule(`a rule has at most ${MOST_RULE_BYTES} bytes`);
  const values: unknown[] = [];
  try {
    for (const document of parseAllDocuments(yaml, { strict: true })) {
      const [fault] = document.errors;
      if (fault !== undefined) throw fault;
      values.push(document.toJS({ maxAliasCount: 10 }));
    }
  } catch (error) {
    throw new InvalidRule(`it is no YAML: ${(error as Error).message.split('\n')[0]}`);
  }
  const documents = values.filter((value) => value !== null);
  if (documents.length === 0) throw new InvalidRule('it is empty');
  if (documents.length > MOST_DOCUMENTS) throw new InvalidRule(`a file has at most ${MOST_DOCUMENTS} rules`);
  return documents.map((value) => membersOf(value, 'a rule'));
}

function documentOf(document: Members): LineRule | CorrelationRule {
  if (document['action'] !== undefined) throw new Unsupported('`action`, of older collections of rules');
  const names = [document['name'], document['id']].filter((name) => typeof name === 'string');
  if (document['correlation'] !== undefined) return correlationOf(membersOf(document['correlation'], '`correlation`'), names);
  return lineRuleOf(document, names);
}

function lineRuleOf(document: Members, names: readonly string[]): LineRule {
  const isOfSource = sourceTest(membersOf(document['logsource'], '`logsource`'));
  const { condition, timeframe, ...selections } = membersOf(document['detection'], '`detection`');
  if (timeframe !== undefined) throw new Unsupported('`timeframe`; write a correlation');
  if (Array.isArray(condition)) throw new Unsupported('several conditions');
  if (typeof condition !== 'string') throw new InvalidRule('`detection.condition` is missing');
  const tests = new Map(Object.entries(selections).map(([name, value]) => [name, selectionTest(value)]));
  const holds: Condition = conditionOf(condition, [...tests.keys()]);
  return {
    kind: 'line',
    names,
    matches: (line) => isOfSource(line) && holds((name) => tests.get(name)?.(line.fields) === true),
  };
}

/** A map: all of its fields. A list of maps: one of them. A list of texts: one of them, in the message. */
function selectionTest(value: unknown): (fields: LineFields) => boolean {
  if (Array.isArray(value)) {
    if (value.length === 0) throw new InvalidRule('a selection is empty');
    const tests = value.map((one: unknown) =>
      typeof one === 'object' && one !== null ? selectionTest(one) : keywordTest([], one),
    );
    return (fields) => tests.some((test) => test(fields));
  }
  const entries = Object.entries(membersOf(value, 'a selection'));
  if (entries.length === 0) throw new InvalidRule('a selection is empty');
  const tests = entries.map(([key, given]) => {
    const [field = '', ...modifiers] = key.split('|');
    if (field === '') return keywordTest(modifiers, given);
    const test = fieldTest(modifiers, given);
    return (fields: LineFields): boolean => test(fields.get(field));
  });
  return (fields) => tests.every((test) => test(fields));
}

function keywordTest(modifiers: readonly string[], given: unknown): (fields: LineFields) => boolean {
  const isPlain = modifiers.every((name) => name === 'all' || name === 'cased');
  const test = fieldTest(isPlain ? [...modifiers, 'contains'] : modifiers, given);
  return (fields) => test(fields.get('msg'));
}

/** Programs of Sigma's services of Linux; what is not here is not collected as lines, or is not understood. */
const SERVICES: Readonly<Record<string, readonly string[] | undefined>> = {
  auth: [
    'sshd',
    'sudo',
    'su',
    'login',
    'systemd-logind',
    'useradd',
    'usermod',
    'userdel',
    'groupadd',
    'gpasswd',
    'passwd',
    'chpasswd',
    'sshd-session',
    'sshd-auth',
  ],
  clamav: ['clamd', 'freshclam', 'clamav'],
  cron: ['cron', 'crond', 'anacron', 'atd'],
  pam: undefined,
  sshd: ['sshd', 'sshd-session', 'sshd-auth'],
  su: ['su'],
  sudo: ['sudo'],
  syslog: undefined,
  vsftpd: ['vsftpd'],
};
const WEB_PRODUCTS = ['nginx', 'apache', 'caddy', 'haproxy'];

/** Throws Unsupported for lines that nobody collects or understands here: a rule that never matches would look like one that does. */
function sourceTest({ product, category, service, definition: _, ...others }: Members): (line: ParsedLine) => boolean {
  const other = Object.keys(others)[0];
  if (other !== undefined) throw new Unsupported(`\`logsource.${other}\``);
  const ofParser = (name: ParserName) => (line: ParsedLine) => line.parser === name;
  const isWeb = typeof product === 'string' && WEB_PRODUCTS.includes(product);
  if (category === 'webserver' || (category === undefined && isWeb)) return ofParser('web');
  if (category === 'firewall' && (product === undefined || product === 'linux')) return ofParser('firewall');
  if (category !== undefined) throw new Unsupported(`the category ${String(category)} of log sources`);
  if (product === 'svc' && service === undefined) return ofApps(['svc']);
  if (product !== undefined && product !== 'linux') throw new Unsupported(`the product ${String(product)} of log sources`);
  if (service === undefined) {
    if (product === undefined) throw new InvalidRule('`logsource` names no product, category or service');
    return () => true;
  }
  if (typeof service !== 'string' || !Object.hasOwn(SERVICES, service))
    throw new Unsupported(`the service ${String(service)} of log sources`);
  const apps = SERVICES[service];
  return apps === undefined ? () => true : ofApps(apps);
}

function ofApps(apps: readonly string[]): (line: ParsedLine) => boolean {
  const known = new Set(apps);
  return ({ fields }) => known.has(fields.get('app')?.toLowerCase() ?? '');
}

const TYPES: readonly string[] = ['event_count', 'value_count', 'temporal', 'temporal_ordered'];

function correlationOf(given: Members, names: readonly string[]): CorrelationRule {
  const { type, rules, 'group-by': groupBy, timespan, condition, aliases, generate, ...others } = given;
  const other = Object.keys(others)[0];
  if (other !== undefined) throw new Unsupported(`\`correlation.${other}\``);
  if (aliases !== undefined) throw new Unsupported('`aliases` of a correlation');
  if (typeof type !== 'string') throw new InvalidRule('`correlation.type` is missing');
  if (!TYPES.includes(type)) throw new Unsupported(`the type ${type} of correlations`);
  const named = listOf(rules, '`correlation.rules`');
  const isOfTime = type === 'temporal' || type === 'temporal_ordered';
  if (isOfTime && condition !== undefined) throw new Unsupported('a condition of rules in time');
  if (isOfTime && new Set(named).size < 2) throw new InvalidRule('rules in time are two at least');
  const { least, field } = isOfTime ? { least: named.length, field: undefined } : countOf(membersOf(condition, '`condition`'));
  if (type === 'value_count' && field === undefined) throw new InvalidRule('`value_count` names no field in its condition');
  if (type === 'event_count' && field !== undefined) throw new Unsupported('a field in the condition of `event_count`');
  if (generate !== undefined && typeof generate !== 'boolean') throw new InvalidRule('`generate` is true or false');
  return {
    kind: 'correlation',
    names,
    type: type as CorrelationType,
    rules: named,
    groupBy: groupBy === undefined ? [] : listOf(groupBy, '`group-by`'),
    timespanMs: timespanOf(timespan),
    least,
    field,
    generates: generate === true,
  };
}

function countOf({ field, gte, gt, ...others }: Members): { least: number; field: string | undefined } {
  const other = Object.keys(others)[0];
  if (other !== undefined) throw new Unsupported(`\`${other}\` in the condition of a correlation; write gte or gt`);
  if (field !== undefined && typeof field !== 'string') throw new Unsupported('several fields in a condition');
  if (gte !== undefined && gt !== undefined) throw new InvalidRule('a condition has gte or gt, not both');
  const least = typeof gte === 'number' ? gte : typeof gt === 'number' ? gt + 1 : undefined;
  if (least === undefined || !Number.isInteger(least) || least < 1) throw new InvalidRule('a condition lacks gte or gt');
  if (least > MOST_COUNTED) throw new Unsupported(`a count above ${MOST_COUNTED}`);
  return { least, field };
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function timespanOf(given: unknown): number {
  const [, number, unit = ''] = /^(\d{1,6})([smhd])$/.exec(String(given)) ?? [];
  if (number === undefined) throw new InvalidRule('`timespan` is a number and s, m, h or d');
  const ms = Number(number) * (UNITS[unit] ?? 0);
  if (ms === 0) throw new InvalidRule('`timespan` is nothing');
  if (ms > MOST_TIMESPAN_MS) throw new Unsupported('a timespan above 7d');
  return ms;
}

function listOf(given: unknown, what: string): string[] {
  const list: unknown[] = Array.isArray(given) ? given : [given];
  if (list.length === 0 || list.length > 20 || !list.every((one) => typeof one === 'string' && one !== ''))
    throw new InvalidRule(`${what} is a text, or a list of 1 to 20 texts`);
  return list as string[];
}

function membersOf(value: unknown, what: string): Members {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw new InvalidRule(`${what} has no members`);
  return value as Members;
}

function textOf(document: Members, name: string): string {
  const value = document[name];
  if (typeof value !== 'string' || value.trim() === '') throw new InvalidRule(`\`${name}\` is missing`);
  if (value.length > MOST_TEXT) throw new InvalidRule(`\`${name}\` is longer than ${MOST_TEXT} characters`);
  return value.trim();
}

function levelOf(given: unknown): Level {
  if (given === undefined) return 'medium';
  const level = LEVELS.find((one) => one === given);
  if (level === undefined) throw new InvalidRule(`\`level\` is one of ${LEVELS.join(', ')}`);
  return level;
}

/** Licenses of public rules ask that their authors are named. */
function authorOf(documents: readonly Members[]): string {
  const authors = documents.map(({ author }) => author).filter((author) => typeof author === 'string');
  return [...new Set(authors)].join(', ').slice(0, MOST_TEXT);
}

/** A member of our own; other programs do not know it and leave it. */
function familyOf(document: Members): string | undefined {
  const family = document['family'];
  return typeof family === 'string' && /^[a-z0-9_-]{1,64}$/.test(family) ? family : undefined;
}
