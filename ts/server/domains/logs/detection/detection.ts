/** Detection on a node: rules are applied in a thread of its own, and what they find becomes incidents. */
import { join } from 'node:path';
import type { Log } from '../../../platform/log/log.ts';
import type { MetricsRegistry } from '../../../platform/metrics/registry.ts';
import type { NodeIncident } from '../../../platform/module/module.ts';
import { AskedThread } from '../../../platform/pool/asked-thread.ts';
import { Repeater } from '../../../platform/repeater.ts';
import { logsError } from '../errors.ts';
import type { Baselines } from './baselines.ts';
import type { BlockLists } from './block-lists.ts';
import type { DetectionOperations } from './detection-host.ts';
import type { Detected } from './detector.ts';
import { INCIDENT_WINDOW_MS } from './incident.ts';
import type { IncidentStore, MarkedAlert } from './incident-store.ts';
import { OWN_RULES } from './own-rules.ts';
import { type InstalledRule, RuleSet } from './rule-set.ts';
import type { RuleStore } from './rule-store.ts';
import { type Level, type ReadRule, readRule } from './sigma-rule.ts';
import { InvalidRule } from './sigma-value.ts';
import { everyLine, type IncidentRow } from './tables.ts';

interface DetectionDeps {
  dataDir: string;
  log: Log;
  metrics: MetricsRegistry;
  now(): number;
  /** The copies, and which of them is read; undefined: nothing is collected. */
  reading(): { copy: string | null; copies: readonly string[] } | undefined;
  rules: RuleStore;
  incidents: IncidentStore;
  blockLists: BlockLists;
  baselines: Baselines;
}

/** A rule as it is listed. */
interface ListedRule {
  id: string;
  title: string;
  level: Level;
  origin: 'own' | 'imported';
  author: string;
  enabled: boolean;
  /** Why it is not applied. */
  unsupported: string | null;
  matches: number;
}

const FILE = new URL('../../../../workers/log-detection.ts', import.meta.url);
const ADVANCE_MS = 1_000;
const KEEP_MS = 5_000;
const PURGE_MS = 3_600_000;
/** Rules and incidents may be changed at another node. */
const REFRESH_MS = 30_000;
const MOST_SHOWN = 50;

export class Detection {
  readonly #deps: DetectionDeps;
  readonly #thread: AskedThread<DetectionOperations, never>;
  readonly #advances: Repeater;
  readonly #metrics: ReturnType<typeof detectionMetrics>;
  /** The thread found it, and the database does not have it yet. */
  #pending: Detected | undefined;
  /** The rules that the thread has, as text. */
  #used: string | undefined;
  #nForgotten = 0;
  #isKept = true;
  #keptAt = 0;
  #purgedAt = 0;
  #refreshedAt = 0;
  #recent: readonly IncidentRow[] = [];
  #faults = '';
  #isStopping = false;

  constructor(deps: DetectionDeps) {
    this.#deps = deps;
    this.#thread = new AskedThread({
      file: FILE,
      env: {},
      workerData: { file: join(deps.dataDir, 'logs', 'detection.json') },
      onNotice: () => undefined,
      onLost: (error) => {
        deps.log.warn('the thread of detection ended and is started again', { error });
        this.#used = undefined;
        this.#pending = undefined;
      },
      unavailable: (sentence) => logsError('logs_unavailable', sentence, { retryAfterMs: 1_000 }),
      refused: ({ failure }) => new Error(failure),
    });
    const onError = (error: unknown): void => {
      if (!this.#isStopping) deps.log.warn('rules could not be applied to collected logs, and are tried again', { error });
    };
    this.#advances = new Repeater({ intervalMs: ADVANCE_MS, run: () => this.#advance(), onError });
    this.#metrics = detectionMetrics(deps.metrics, () => this.#recent);
  }

  start(): void {
    this.#isStopping = false;
    this.#refreshedAt = 0;
    this.#thread.open();
    this.#advances.start();
    this.#deps.blockLists.start();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#advances.stop();
    if (!this.#isKept && this.#pending === undefined) await this.#keep().catch(() => undefined);
    await this.#thread.close();
    this.#used = undefined;
    this.#pending = undefined;
    await this.#deps.blockLists.stop();
  }

  /** Shows incidents to strangers: without addresses and names. */
  get shown(): NodeIncident[] {
    return this.#recent.map(({ severity, alerts, opened_at: since, closed_at: endedAt }) => ({
      code: 'detection_incident',
      detail: `A rule of level ${severity} alerted ${alerts === 1 ? 'once' : `${alerts} times`}.`,
      since,
      ...(endedAt !== null && { endedAt }),
    }));
  }

  async listRules(): Promise<ListedRule[]> {
    const rows = new Map((await this.#deps.rules.list(everyLine())).map((row) => [row.id, row]));
    const installed = await this.#installed();
    const { faults } = new RuleSet(installed.filter(({ isEnabled }) => isEnabled));
    return installed.map(({ id, yaml, isOwn, isEnabled }): ListedRule => {
      const { title, level, author, unsupported } = shownOf(yaml);
      const row = rows.get(id);
      return {
        id,
        title,
        level,
        origin: isOwn ? 'own' : 'imported',
        author,
        enabled: isEnabled,
        unsupported: unsupported ?? faults.get(id) ?? null,
        matches: row?.matches ?? 0,
      };
    });
  }

  /** Installs or replaces a rule. Throws DomainError `invalid_rule` and `rule_is_own`. */
  async putRule(id: string, yaml: string): Promise<ListedRule> {
    if (isOwn(id))
      throw logsError('rule_is_own', `${id} comes with the program: switch it off, and install yours by another id.`);
    try {
      readRule(yaml);
    } catch (error) {
      if (error instanceof InvalidRule) throw logsError('invalid_rule', `It is no rule: ${error.message}.`);
      throw error;
    }
    await this.#deps.rules.set(everyLine(), id, { yaml, enabled: 1 }, this.#deps.now());
    return await this.#changed(id);
  }

  /** Throws DomainError `rule_not_found`. */
  async enableRule(id: string, isEnabled: boolean): Promise<ListedRule> {
    await this.#requireRule(id);
    await this.#deps.rules.set(everyLine(), id, { enabled: isEnabled ? 1 : 0 }, this.#deps.now());
    return await this.#changed(id);
  }

  /** Throws DomainError `rule_not_found` and `rule_is_own`. */
  async removeRule(id: string): Promise<void> {
    if (isOwn(id)) throw logsError('rule_is_own', `${id} comes with the program: it can be switched off.`);
    await this.#requireRule(id);
    await this.#deps.rules.remove(everyLine(), id);
    this.wake();
  }

  /** Rules or incidents were changed. */
  wake(): void {
    this.#refreshedAt = 0;
    this.#advances.wake();
  }

  async #requireRule(id: string): Promise<void> {
    if (!(await this.#installed()).some((rule) => rule.id === id)) throw logsError('rule_not_found', `There is no rule ${id}.`);
  }

  async #changed(id: string): Promise<ListedRule> {
    this.wake();
    const listed = (await this.listRules()).find((rule) => rule.id === id);
    if (listed === undefined) throw logsError('rule_not_found', `There is no rule ${id} any more.`);
    return listed;
  }

  async #installed(): Promise<(InstalledRule & { isOwn: boolean; isEnabled: boolean })[]> {
    const rows = new Map((await this.#deps.rules.list(everyLine())).map((row) => [row.id, row]));
    const own = OWN_RULES.map((rule) => ({ ...rule, isOwn: true, isEnabled: rows.get(rule.id)?.enabled !== 0 }));
    const imported = [...rows.values()].flatMap(({ id, yaml, enabled }) =>
      yaml === null || isOwn(id) ? [] : [{ id, yaml, isOwn: false, isEnabled: enabled === 1 }],
    );
    return [...own, ...imported];
  }

  async #advance(): Promise<void> {
    const { now, reading } = this.#deps;
    const found = reading();
    const isFirst = found !== undefined && this.#used === undefined;
    if (isFirst || now() - this.#refreshedAt >= REFRESH_MS) await this.#refresh();
    if (found === undefined || found.copy === null) return;
    if (this.#pending === undefined) {
      const copy = { path: found.copy, number: found.copies.indexOf(found.copy) };
      this.#pending = await this.#thread.ask('advance', { copy, nowMs: now() }).answer;
    }
    await this.#record(this.#pending);
    const { isDone, nLines } = this.#pending;
    this.#pending = undefined;
    if (isDone) await this.#judge();
    if (nLines > 0) this.#isKept = false;
    if (!this.#isKept && now() - this.#keptAt >= KEEP_MS) await this.#keep();
    if (!isDone) this.#advances.wake();
  }

  async #judge(): Promise<void> {
    const { baselines, blockLists, now } = this.#deps;
    const alerts = await baselines.judge(everyLine(), now());
    await this.#alert(alerts.map((alert) => ({ ...alert, marks: blockLists.marksOf(alert.addresses) })));
  }

  async #alert(alerts: readonly MarkedAlert[]): Promise<void> {
    if (alerts.length === 0) return;
    const { nNew, opened } = await this.#deps.incidents.record(everyLine(), alerts, this.#deps.now());
    this.#metrics.alerts.add(nNew);
    if (opened.length > 0) this.#deps.log.warn('rules found something in collected logs', { incidents: opened });
    await this.#showRecent();
  }

  /** The same again where the database failed: nothing is asked of the thread before it has what was found. */
  async #record({ alerts, counts, nLines, nForgotten, faults }: Detected): Promise<void> {
    const { baselines, blockLists, log } = this.#deps;
    await this.#alert(alerts.map((alert) => ({ ...alert, marks: blockLists.marksOf(alert.addresses) })));
    if (counts.length > 0) await baselines.count(everyLine(), counts);
    this.#metrics.lines.add(nLines);
    this.#metrics.forgotten.add(Math.max(0, nForgotten - this.#nForgotten));
    this.#nForgotten = nForgotten;
    const text = faults.join('\n');
    if (text !== this.#faults && text !== '') log.warn('rules could not be applied to files of collected logs', { faults });
    this.#faults = text;
  }

  async #refresh(): Promise<void> {
    const rules = (await this.#installed()).flatMap(({ id, yaml, isEnabled }) => (isEnabled ? [{ id, yaml }] : []));
    const text = JSON.stringify(rules);
    if (text !== this.#used && this.#deps.reading() !== undefined) {
      await this.#thread.ask('useRules', { rules }).answer;
      this.#used = text;
    }
    await this.#showRecent();
    const now = this.#deps.now();
    if (now - this.#purgedAt >= PURGE_MS) await this.#deps.incidents.purge(everyLine(), now);
    this.#purgedAt = now;
    this.#refreshedAt = now;
  }

  async #showRecent(): Promise<void> {
    this.#recent = await this.#deps.incidents.recent(everyLine(), this.#deps.now() - INCIDENT_WINDOW_MS, MOST_SHOWN);
  }

  async #keep(): Promise<void> {
    await this.#thread.ask('keep', {}).answer;
    this.#isKept = true;
    this.#keptAt = this.#deps.now();
  }
}

function isOwn(id: string): boolean {
  return OWN_RULES.some((rule) => rule.id === id);
}

/** A rule that another version of the program took may be none for this one. */
function shownOf(yaml: string): Omit<ReadRule, 'file'> {
  try {
    return readRule(yaml);
  } catch (error) {
    return { title: '', level: 'medium', author: '', unsupported: (error as Error).message };
  }
}

function detectionMetrics(metrics: MetricsRegistry, recent: () => readonly IncidentRow[]) {
  const open = metrics.gauge('svc_logs_open_incidents', 'Incidents of collected logs that are not closed.').with();
  metrics.onCollect(() => open.set(recent().filter(({ state }) => state !== 'closed').length));
  return {
    alerts: metrics.counter('svc_logs_alerts_total', 'Alerts of rules in collected logs.').with(),
    lines: metrics.counter('svc_logs_detected_lines_total', 'Collected lines that rules were applied to.').with(),
    forgotten: metrics
      .counter('svc_logs_forgotten_findings_total', 'Findings that correlations had no space for, or that came too late.')
      .with(),
  };
}
