/** The rules in force: what a line sets off, directly and by correlations. */
import { crc32 } from 'node:zlib';
import type { TimedLine } from '../index/log-line.ts';
import { CorrelationWindows, type Finding, type SavedGroups } from './correlation-windows.ts';
import { fieldsOf, type LineFields } from './line-fields.ts';
import { type CorrelationRule, type Level, type LineRule, type RuleFile, readRule } from './sigma-rule.ts';
import { InvalidRule } from './sigma-value.ts';

export interface InstalledRule {
  id: string;
  yaml: string;
}

/** An alert is one thing that a rule found. */
export interface Alert {
  rule: string;
  level: Level;
  author: string;
  family: string;
  /** It is about this: an address, an account or a host. */
  entity: string;
  /** Unix milliseconds. */
  atMs: number;
  /** The line that set it off; a rule alerts of it once. */
  uuid: string;
  /** The lines that it stands on, a sample of them. */
  uuids: string[];
  /** Addresses that its line names. */
  addresses: string[];
  /** Alerts that it stands for: in a flood, those of one rule and entity are joined. */
  count: number;
}

/** Windows by the rule and its text. */
export type SavedWindows = Readonly<Record<string, SavedGroups>>;

interface RuleNode {
  id: string;
  file: RuleFile;
  rule: LineRule | CorrelationRule;
  /** It serves a correlation of its file alone. */
  isSilent: boolean;
  windows: CorrelationWindows | undefined;
  /** The correlations that count what it finds, and its place in their lists. */
  listeners: { node: RuleNode; place: number }[];
  key: string;
}

const MOST_CITED = 20;
const MOST_ADDRESSES = 10;
const MOST_CHAINED = 5;
const ENTITY_FIELDS = ['src_ip', 'user', 'host'] as const;
const ADDRESS_FIELDS = ['src_ip', 'dst_ip', 'fromhost_ip'] as const;
const IPV4 = /(?<![\d.])\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?![\d.])/g;
const MOST_ENTITY = 200;

export class RuleSet {
  /** Why a rule is not applied, by its id. */
  readonly faults = new Map<string, string>();
  readonly #nodes: RuleNode[] = [];
  readonly #lineNodes: RuleNode[];

  constructor(installed: readonly InstalledRule[], saved: SavedWindows = {}) {
    for (const rule of installed) this.#install(rule, saved);
    this.#connect();
    this.#lineNodes = this.#nodes.filter(({ rule }) => rule.kind === 'line');
  }

  get saved(): SavedWindows {
    const windows = this.#nodes.flatMap(({ key, windows }) => (windows === undefined ? [] : [[key, windows.saved] as const]));
    return Object.fromEntries(windows);
  }

  get nForgotten(): number {
    return this.#nodes.reduce((sum, { windows }) => sum + (windows?.nForgotten ?? 0), 0);
  }

  /** Adds what the line sets off. */
  evaluate({ line, atMs }: TimedLine, alerts: Alert[]): void {
    const parsed = fieldsOf(line);
    for (const node of this.#lineNodes)
      if ((node.rule as LineRule).matches(parsed))
        this.#find(node, { atMs, uuid: line.uuid, uuids: [line.uuid] }, parsed.fields, alerts, 0);
  }

  #install({ id, yaml }: InstalledRule, saved: SavedWindows): void {
    const { file, unsupported } = readStored(yaml);
    if (file === undefined) {
      this.faults.set(id, unsupported ?? 'it cannot be read');
      return;
    }
    const served = new Set(file.documents.flatMap((rule) => (rule.kind === 'correlation' && !rule.generates ? rule.rules : [])));
    for (const [i, rule] of file.documents.entries()) {
      const key = `${id}/${i}/${crc32(yaml).toString(16)}`;
      const windows = rule.kind === 'correlation' ? new CorrelationWindows(rule, saved[key]) : undefined;
      const isSilent = rule.names.some((name) => served.has(name));
      this.#nodes.push({ id, file, rule, isSilent, windows, listeners: [], key });
    }
  }

  /** A correlation means the rules of its own file first, then those of others; by their ids they mean all that the rule alerts of. */
  #connect(): void {
    for (const node of this.#nodes)
      for (const [place, name] of rulesOf(node).entries()) {
        const sources = this.#named(node, name);
        if (sources.length === 0) this.faults.set(node.id, `the rule ${name}, which is not installed`);
        for (const source of sources) source.listeners.push({ node, place });
      }
    for (const node of this.#nodes) if (reaches(node, node)) this.faults.set(node.id, 'correlations in a circle');
    for (let nBefore = -1; nBefore !== this.faults.size; ) {
      nBefore = this.faults.size;
      for (const node of this.#nodes)
        for (const name of rulesOf(node))
          if (this.#named(node, name).every(({ id }) => this.faults.has(id)) && !this.faults.has(node.id))
            this.faults.set(node.id, `the rule ${name}, which is not applied`);
    }
    const isApplied = ({ id }: RuleNode): boolean => !this.faults.has(id);
    for (const node of this.#nodes) node.listeners = node.listeners.filter((one) => isApplied(one.node));
    this.#nodes.splice(0, Number.POSITIVE_INFINITY, ...this.#nodes.filter(isApplied));
  }

  #named(node: RuleNode, name: string): RuleNode[] {
    const others = this.#nodes.filter((other) => other !== node);
    const named = others.filter(({ rule }) => rule.names.includes(name));
    const own = named.filter(({ id }) => id === node.id);
    if (own.length > 0) return own;
    return named.length > 0 ? named : others.filter(({ id, isSilent }) => id === name && !isSilent);
  }

  #find(
    node: RuleNode,
    found: { atMs: number; uuid: string; uuids: readonly string[] },
    fields: LineFields,
    alerts: Alert[],
    depth: number,
  ): void {
    if (!node.isSilent) alerts.push(alertOf(node, found, fields));
    if (depth >= MOST_CHAINED) return;
    for (const { node: listener, place } of node.listeners) {
      const { groupBy, field } = listener.rule as CorrelationRule;
      const values = groupBy.map((name) => fields.get(name));
      const value = field === undefined ? '' : fields.get(field);
      // What lacks a field belongs to no group.
      if (values.includes(undefined) || value === undefined) continue;
      const finding: Finding = { atMs: found.atMs, uuid: found.uuid, rule: place, value };
      const enough = listener.windows?.add(values.join('\u0000'), finding);
      if (enough === undefined) continue;
      const uuids = [...new Set([...enough.map(({ uuid }) => uuid), ...found.uuids])].slice(-MOST_CITED);
      this.#find(listener, { atMs: found.atMs, uuid: found.uuid, uuids }, fields, alerts, depth + 1);
    }
  }
}

/** A rule that was taken by another version of the program may be none for this one. */
function readStored(yaml: string): { file: RuleFile | undefined; unsupported: string | null } {
  try {
    return readRule(yaml);
  } catch (error) {
    if (error instanceof InvalidRule) return { file: undefined, unsupported: error.message };
    throw error;
  }
}

function rulesOf({ rule }: RuleNode): readonly string[] {
  return rule.kind === 'correlation' ? rule.rules : [];
}

function reaches(from: RuleNode, target: RuleNode, seen = new Set<RuleNode>()): boolean {
  return from.listeners.some(({ node }) => {
    if (node === target) return true;
    if (seen.has(node)) return false;
    seen.add(node);
    return reaches(node, target, seen);
  });
}

function alertOf(
  { id, file, rule }: RuleNode,
  { atMs, uuid, uuids }: { atMs: number; uuid: string; uuids: readonly string[] },
  fields: LineFields,
): Alert {
  const groupBy = rule.kind === 'correlation' ? rule.groupBy : [];
  const named = groupBy.length > 0 ? groupBy : ENTITY_FIELDS.filter((name) => fields.has(name)).slice(0, 1);
  const addresses = new Set(ADDRESS_FIELDS.flatMap((name) => fields.get(name) ?? []));
  for (const [address] of (fields.get('msg') ?? '').slice(0, 8_192).matchAll(IPV4)) {
    if (addresses.size >= MOST_ADDRESSES) break;
    addresses.add(address);
  }
  return {
    rule: id,
    level: file.level,
    author: file.author,
    family: file.family ?? id,
    entity: named
      .map((name) => fields.get(name) ?? '')
      .join(' ')
      .replaceAll('\u0000', '')
      .slice(0, MOST_ENTITY),
    atMs,
    uuid,
    uuids: [...uuids],
    addresses: [...addresses],
    count: 1,
  };
}
