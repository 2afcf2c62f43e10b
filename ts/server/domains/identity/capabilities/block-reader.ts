/**
 * Reads what a block says from the Datalog that Biscuit prints of it. Blocks hold checks of four forms and nothing else, so that no rule and no
 * expression of a stranger is ever evaluated, and what a token may do is known before it is used:
 *
 *   check if time($t), $t <= 2027-01-01T00:00:00Z        (or <)
 *   check if scope($s), ["chat:use", "models:read"].contains($s)   (or a set)
 *   check if scope("chat:use") or scope("models:read")
 *   check if scope($s), $s == "chat:use"
 *
 * with `scope` or a registered kind, for example `model`, up to 32 names in a check and 200 characters in a name.
 */
import { MAX_NAME_LENGTH, MAX_NAMES } from './capability-limits.ts';
import { intersect, type Predicates, type Restrictions, restrictionTo } from './restrictions.ts';

const NAME = '"[^"\\\\]*"';
const LIST = /^check if (\w+)\(\$(\w+)\), (?:\[(.*)\]|\{(.*)\})\.contains\(\$(\w+)\)$/;
const ONE = new RegExp(`^check if (\\w+)\\(\\$(\\w+)\\), \\$(\\w+) ={2,3} (${NAME})$`);
const ANY = new RegExp(`^check if \\w+\\(${NAME}\\)(?: or \\w+\\(${NAME}\\))*$`);
const TIME = /^check if time\(\$(\w+)\), \$(\w+) <=? (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)$/;
const NAMES = new RegExp(`^(?:${NAME}(?:, ${NAME})*)?$`);
const FACT = new RegExp(`^(tenant|user|capability)\\((${NAME})\\)$`);

/** What the first block says beside its checks. */
export interface TokenFacts {
  tenant: string;
  user: string;
  /** Id of the first token, which all others were derived from. */
  capability: string;
}

/** Undefined: the block holds something of another form. */
export function readChecks(predicates: Predicates, source: string): Restrictions | undefined {
  const lines = statementsOf(source);
  return lines && readLines(predicates, lines);
}

/** The first block, which this service wrote. */
export function readFirstBlock(
  predicates: Predicates,
  source: string,
): { facts: TokenFacts; restrictions: Restrictions } | undefined {
  const lines = statementsOf(source);
  const facts: Partial<TokenFacts> = {};
  const checks = lines?.filter((line) => {
    const [, name, value] = FACT.exec(line) ?? [];
    if (name === undefined || value === undefined) return true;
    facts[name as keyof TokenFacts] = value.slice(1, -1);
    return false;
  });
  const restrictions = checks && readLines(predicates, checks);
  const { tenant, user, capability } = facts;
  if (restrictions === undefined || tenant === undefined || user === undefined || capability === undefined) return undefined;
  return { facts: { tenant, user, capability }, restrictions };
}

/** Undefined: a statement does not end where its line ends, as one with a line break in a name. */
function statementsOf(source: string): string[] | undefined {
  const lines = source.split('\n').filter((line) => line !== '');
  return lines.every((line) => line.endsWith(';')) ? lines.map((line) => line.slice(0, -1)) : undefined;
}

function readLines(predicates: Predicates, lines: readonly string[]): Restrictions | undefined {
  let all: Restrictions = {};
  for (const line of lines) {
    const read = readTime(line) ?? readNames(predicates, line);
    if (read === undefined) return undefined;
    all = intersect(all, read);
  }
  return all;
}

/** Undefined: it has another form, limits what no module registered, or has too many names or too long ones. */
function readNames(predicates: Predicates, line: string): Restrictions | undefined {
  const { predicate, names } = readList(line) ?? readOne(line) ?? readAny(line) ?? {};
  if (names === undefined || names.length > MAX_NAMES || names.some(({ length }) => length > MAX_NAME_LENGTH)) return undefined;
  const [list] = [...predicates].find(([, each]) => each === predicate) ?? [];
  return list === undefined ? undefined : restrictionTo({ [list]: names });
}

interface NamedOnes {
  predicate: string;
  names: readonly string[];
}

function readTime(line: string): Restrictions | undefined {
  const [, bound, used, date] = TIME.exec(line) ?? [];
  if (date === undefined || bound !== used) return undefined;
  const expiresAt = Date.parse(date);
  return Number.isNaN(expiresAt) ? undefined : { expiresAt };
}

function readList(line: string): NamedOnes | undefined {
  const [, predicate, bound, list, set, used] = LIST.exec(line) ?? [];
  if (predicate === undefined || bound !== used) return undefined;
  // The empty set is printed with a comma.
  const names = namesIn(list ?? (set === ',' ? '' : (set ?? '')));
  return names && { predicate, names };
}

function readOne(line: string): NamedOnes | undefined {
  const [, predicate, bound, used, name] = ONE.exec(line) ?? [];
  if (predicate === undefined || name === undefined || bound !== used) return undefined;
  return { predicate, names: [name.slice(1, -1)] };
}

function readAny(line: string): NamedOnes | undefined {
  if (!ANY.test(line)) return undefined;
  const found = [...line.matchAll(new RegExp(`(\\w+)\\((${NAME})\\)`, 'g'))];
  const predicates = new Set(found.map(([, predicate = '']) => predicate));
  const [predicate] = predicates;
  // Two lists in one check would have to be decided together.
  if (predicate === undefined || predicates.size > 1) return undefined;
  return { predicate, names: found.map(([, , name = '']) => name.slice(1, -1)) };
}

function namesIn(text: string): string[] | undefined {
  if (!NAMES.test(text)) return undefined;
  return text === '' ? [] : text.slice(1, -1).split('", "');
}
