/** The windows of a correlation: what was found by group, within its timespan. They are bounded, and what they had to forget is counted. */
import type { CorrelationRule } from './sigma-rule.ts';

/** Something that a rule found. */
export interface Finding {
  atMs: number;
  uuid: string;
  /** The place of the rule in the correlation's list. */
  rule: number;
  /** The value that is counted. */
  value: string;
}

interface Group {
  /** They stand in the order of time. */
  findings: Finding[];
  /** The end of the window that alerted last: what is read again behind a crash does not alert again. */
  firedMs: number;
  firedUuids: string[];
}

/** The form that is kept over restarts. */
export type SavedGroups = [key: string, group: Group][];

const MOST_GROUPS = 10_000;
const MOST_FINDINGS = 100_000;
/** An order of rules has no bound of its own, and keeps so many findings. */
const MOST_ORDERED = 100;

export class CorrelationWindows {
  readonly #rule: CorrelationRule;
  /** Those that were used last are at the end. */
  readonly #groups = new Map<string, Group>();
  #nFindings = 0;
  /** Findings that came too late, or whose group had no space any more. */
  nForgotten = 0;

  constructor(rule: CorrelationRule, saved: SavedGroups = []) {
    this.#rule = rule;
    for (const [key, group] of saved.slice(-MOST_GROUPS)) {
      this.#groups.set(key, group);
      this.#nFindings += group.findings.length;
    }
  }

  get saved(): SavedGroups {
    return [...this.#groups];
  }

  /** Returns the findings that are enough together; undefined: they are not. */
  add(key: string, finding: Finding): Finding[] | undefined {
    const group = this.#groups.get(key) ?? { findings: [], firedMs: Number.NEGATIVE_INFINITY, firedUuids: [] };
    this.#groups.delete(key);
    this.#groups.set(key, group);
    const nBefore = group.findings.length;
    const fired = this.#insert(group, finding) ? this.#enough(group.findings) : undefined;
    if (fired !== undefined) {
      const last = fired.at(-1)?.atMs ?? finding.atMs;
      group.firedMs = last;
      group.firedUuids = group.findings.filter(({ atMs }) => atMs === last).map(({ uuid }) => uuid);
      group.findings = [];
    }
    this.#nFindings += group.findings.length - nBefore;
    this.#evict(finding.atMs);
    return fired;
  }

  /** False: it does not count. */
  #insert(group: Group, finding: Finding): boolean {
    const { findings, firedMs, firedUuids } = group;
    const { atMs, uuid } = finding;
    if (atMs < firedMs || (atMs === firedMs && firedUuids.includes(uuid))) return false;
    const isTwice = (other: Finding): boolean => other.uuid === uuid && other.rule === finding.rule;
    if (findings.some(isTwice)) return false;
    const endMs = Math.max(atMs, findings.at(-1)?.atMs ?? atMs);
    if (atMs < endMs - this.#rule.timespanMs) {
      this.nForgotten += 1;
      return false;
    }
    const before = findings.findLastIndex((other) => other.atMs <= atMs);
    findings.splice(before + 1, 0, finding);
    this.#shorten(group, endMs);
    return true;
  }

  /** Leaves what can still count. */
  #shorten(group: Group, endMs: number): void {
    const { type, timespanMs, least } = this.#rule;
    group.findings = group.findings.filter(({ atMs }) => atMs >= endMs - timespanMs);
    const key = (one: Finding): string | number => (type === 'temporal' ? one.rule : one.value);
    if (type === 'value_count' || type === 'temporal')
      group.findings = group.findings.filter((one, i, all) => all.findLastIndex((other) => key(other) === key(one)) === i);
    const most = type === 'temporal_ordered' ? MOST_ORDERED : least;
    if (group.findings.length <= most) return;
    this.nForgotten += group.findings.length - most;
    group.findings = group.findings.slice(-most);
  }

  #enough(findings: readonly Finding[]): Finding[] | undefined {
    if (this.#rule.type === 'temporal_ordered') return this.#inOrder(findings);
    return findings.length >= this.#rule.least ? [...findings] : undefined;
  }

  /** The latest finding of each rule that has one of the rule before it in time. */
  #inOrder(findings: readonly Finding[]): Finding[] | undefined {
    let end = findings.length;
    const found: Finding[] = [];
    for (let rule = this.#rule.rules.length - 1; rule >= 0; rule--) {
      end = findings.findLastIndex((one, i) => i < end && one.rule === rule);
      const one = findings[end];
      if (one === undefined) return undefined;
      found.unshift(one);
    }
    return found;
  }

  #evict(nowMs: number): void {
    for (const [key, { findings }] of this.#groups) {
      if (this.#groups.size <= MOST_GROUPS && this.#nFindings <= MOST_FINDINGS) return;
      this.#groups.delete(key);
      this.#nFindings -= findings.length;
      this.nForgotten += findings.filter(({ atMs }) => atMs >= nowMs - this.#rule.timespanMs).length;
    }
  }
}
