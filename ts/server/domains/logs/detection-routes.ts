/** Incidents, rules and block lists, for superadmins. */
import { isAbsolute } from 'node:path';
import Type, { type Static } from 'typebox';
import { RawBody } from '../../platform/http/body/body-schema.ts';
import { listOf, PageQuery, page, pageRead } from '../../platform/http/page.ts';
import type { RequestContext, Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import { named } from '../../platform/schema/named.ts';
import { auditEntry, auditSource, type IdentityApi } from '../identity/index.ts';
import type { BlockLists } from './detection/block-lists.ts';
import type { Detection } from './detection/detection.ts';
import { INCIDENT_STATES, VERDICTS } from './detection/incident.ts';
import type { IncidentStore } from './detection/incident-store.ts';
import type { RuleStore } from './detection/rule-store.ts';
import { LEVELS, MOST_RULE_BYTES } from './detection/sigma-rule.ts';
import { everyLine, type IncidentRow } from './detection/tables.ts';
import { logsError, logsErrors } from './errors.ts';

const PATH = '/api/v1/logs';
const MOST_BLOCKLISTS = 50;

const Nullable = <S extends Type.TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
const Time = Type.String({ description: 'ISO 8601, UTC.' });
const Level = Type.Enum([...LEVELS]);

const Incident = named(
  'LogIncident',
  Type.Object({
    id: Type.String(),
    rule: Type.String({ description: 'The rule that opened it.' }),
    author: Type.String({ description: 'Authors of the rules that alerted.' }),
    entity: Type.String({ description: 'What it is about: an address, an account or a host.' }),
    severity: Level,
    state: Type.Enum([...INCIDENT_STATES]),
    verdict: Nullable(Type.Enum([...VERDICTS])),
    opened_at: Time,
    last_alert_at: Time,
    closed_at: Nullable(Time),
    alerts: Type.Integer(),
    uuids: Type.Array(Type.String(), { description: 'Lines that it stands on, the latest 100.' }),
    marks: Type.Array(Type.String(), { description: 'Block lists that name an address of them.' }),
  }),
);
const Rule = named(
  'LogRule',
  Type.Object({
    id: Type.String(),
    title: Type.String(),
    level: Level,
    origin: Type.Enum(['own', 'imported']),
    author: Type.String(),
    enabled: Type.Boolean(),
    unsupported: Nullable(Type.String({ description: 'Why none of it is applied; null: it is.' })),
    matches: Type.Integer({ description: 'Alerts so far.' }),
  }),
);
const BlockList = named(
  'LogBlockList',
  Type.Object({
    name: Type.String(),
    url: Nullable(Type.String()),
    path: Nullable(Type.String()),
    refresh_minutes: Type.Integer(),
    entries: Type.Integer(),
    dropped: Type.Integer({ description: 'Entries that name networks of your own, or ones that are not public.' }),
    fetched_at: Nullable(Time),
    error: Nullable(Type.String({ description: 'Why the last good one is used.' })),
  }),
);
const IncidentParams = Type.Object({ id: Type.String({ pattern: '^inc_[0-9a-f-]{36}$' }) });
const RuleParams = Type.Object({ id: Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,63}$' }) });
const ListName = Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,31}$' });

interface DetectionRouteDeps {
  detection: Detection;
  incidents: IncidentStore;
  rules: RuleStore;
  blockLists: BlockLists;
  recordAct: IdentityApi['recordAct'];
  now(): number;
}

const { get, put, patch, post, del } = routes({ tag: 'Logs', auth: 'superadmin', errors: logsErrors });

export function detectionRoutes(deps: DetectionRouteDeps): Route[] {
  return [...incidentRoutes(deps), ...ruleRoutes(deps), ...blockListRoutes(deps)];
}

type Act = (context: RequestContext, action: string, target: string, detail?: Readonly<Record<string, unknown>>) => Promise<void>;

const actOf =
  ({ recordAct }: DetectionRouteDeps): Act =>
  (context, action, target, detail = {}) =>
    recordAct(auditEntry(auditSource(context), { action, target, detail }));

function incidentRoutes(deps: DetectionRouteDeps): Route[] {
  const { incidents, detection, now } = deps;
  const act = actOf(deps);
  return [
    get(`${PATH}/incidents`, {
      summary: 'Incidents that rules found in collected lines, newest first',
      query: Type.Object({ ...PageQuery.properties, state: Type.Optional(Type.Enum([...INCIDENT_STATES])) }),
      answer: listOf(Incident),
      handle: async (context) => {
        const { query } = context;
        await act(context, 'logs.incidents', query.state ?? '');
        const rows = await incidents.list(everyLine(), { ...pageRead(query), state: query.state });
        return page(rows, query.limit, incidentBody);
      },
    }),
    patch(`${PATH}/incidents/{id}`, {
      summary: 'Acknowledge, close or open an incident again',
      description: 'An alert within 24 hours opens one again that was closed.',
      params: IncidentParams,
      body: Type.Object(
        {
          state: Type.Enum([...INCIDENT_STATES]),
          verdict: Type.Optional(Type.Enum([...VERDICTS], { description: 'Needed to close it.' })),
        },
        { additionalProperties: false },
      ),
      answer: Incident,
      errors: ['invalid_request', 'incident_not_found', 'invalid_incident_state'],
      handle: async (context) => {
        const { params, body } = context;
        const { state, verdict } = body;
        if ((state === 'closed') !== (verdict !== undefined))
          throw logsError('invalid_request', '`verdict` is needed to close an incident, and only then.', { param: 'verdict' });
        const changed = await incidents.change(everyLine(), params.id, { state, verdict: verdict ?? null }, now());
        if (changed === undefined) throw logsError('incident_not_found', `There is no incident ${params.id}.`);
        if ('refused' in changed)
          throw logsError('invalid_incident_state', `The incident is ${changed.refused}, and does not become ${state}.`);
        await act(context, 'logs.incident', params.id, body);
        detection.wake();
        return incidentBody(changed);
      },
    }),
  ];
}

function incidentBody(row: IncidentRow): Static<typeof Incident> {
  const { id, rule, author, entity, severity, state, verdict, alerts, uuids, marks } = row;
  const iso = (ms: number): string => new Date(ms).toISOString();
  return {
    id,
    rule,
    author,
    entity,
    severity,
    state,
    verdict,
    opened_at: iso(row.opened_at),
    last_alert_at: iso(row.last_alert_at),
    closed_at: row.closed_at === null ? null : iso(row.closed_at),
    alerts,
    uuids: JSON.parse(uuids) as string[],
    marks: JSON.parse(marks) as string[],
  };
}

function ruleRoutes(deps: DetectionRouteDeps): Route[] {
  const { detection } = deps;
  const act = actOf(deps);
  return [
    get(`${PATH}/rules`, {
      summary: 'Rules that are applied to collected lines',
      answer: Type.Object({ data: Type.Array(Rule) }),
      handle: async () => ({ data: await detection.listRules() }),
    }),
    put(`${PATH}/rules/{id}`, {
      summary: 'Install a Sigma rule, or replace one',
      description:
        'The body is the YAML: one rule, or rules and correlations of them with `---` between. What cannot be applied here is listed with the reason, and ' +
        'none of it is applied.',
      params: RuleParams,
      maxBody: MOST_RULE_BYTES,
      bodyKind: 'bytes',
      body: RawBody,
      answer: Rule,
      errors: ['invalid_rule', 'rule_is_own'],
      handle: async (context) => {
        const { id } = context.params;
        const rule = await detection.putRule(id, await textOf(context.body));
        await act(context, 'logs.rule', id, { title: rule.title, unsupported: rule.unsupported });
        return rule;
      },
    }),
    patch(`${PATH}/rules/{id}`, {
      summary: 'Switch a rule on or off',
      params: RuleParams,
      body: Type.Object({ enabled: Type.Boolean() }, { additionalProperties: false }),
      answer: Rule,
      errors: ['invalid_request', 'rule_not_found'],
      handle: async (context) => {
        const { params, body } = context;
        const rule = await detection.enableRule(params.id, body.enabled);
        await act(context, 'logs.rule', params.id, body);
        return rule;
      },
    }),
    del(`${PATH}/rules/{id}`, {
      summary: 'Remove an imported rule',
      params: RuleParams,
      errors: ['rule_not_found', 'rule_is_own'],
      handle: async (context) => {
        const { id } = context.params;
        await detection.removeRule(id);
        await act(context, 'logs.rule', id, { removed: true });
      },
    }),
  ];
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw logsError('invalid_rule', 'It is no rule: its bytes are not UTF-8.');
  }
}

function blockListRoutes(deps: DetectionRouteDeps): Route[] {
  const { blockLists, rules, now } = deps;
  const act = actOf(deps);
  return [
    get(`${PATH}/blocklists`, {
      summary: 'Public lists of addresses, which lines and incidents are marked by',
      answer: Type.Object({ data: Type.Array(BlockList) }),
      handle: () => ({ data: blockLists.shown }),
    }),
    post(`${PATH}/blocklists`, {
      summary: 'Read a block list again and again, or another one under its name',
      description:
        'Netsets and DROP lists. Networks that are private, special or your own are left out of each. The last good one is kept.',
      body: Type.Object(
        {
          name: ListName,
          url: Type.Optional(
            Type.String({ maxLength: 2_000, description: 'https; hosts inside the network by `logs.allowed_hosts`.' }),
          ),
          path: Type.Optional(Type.String({ maxLength: 1_000, description: 'In place of `url`: a file of this node.' })),
          refresh_minutes: Type.Integer({ minimum: 5, maximum: 44_640 }),
        },
        { additionalProperties: false },
      ),
      answer: Type.Object({ data: Type.Array(BlockList) }),
      errors: ['invalid_request'],
      handle: async (context) => {
        const { name, url, path, refresh_minutes } = context.body;
        const place = placeOf(url, path);
        const isNew = blockLists.shown.every((list) => list.name !== name);
        if (isNew && blockLists.shown.length >= MOST_BLOCKLISTS)
          throw logsError('invalid_request', `There are ${MOST_BLOCKLISTS} block lists, and no more are kept.`, {
            param: 'name',
          });
        await rules.setBlockList(everyLine(), { name, ...place, refresh_minutes, created_at: now() });
        await act(context, 'logs.blocklist', name, { url, path, refresh_minutes });
        await blockLists.look();
        return { data: blockLists.shown };
      },
    }),
    del(`${PATH}/blocklists`, {
      summary: 'Remove a block list',
      query: Type.Object({ name: ListName }),
      errors: ['blocklist_not_found'],
      handle: async (context) => {
        const { name } = context.query;
        if (!(await rules.removeBlockList(everyLine(), name)))
          throw logsError('blocklist_not_found', `There is no block list ${name}.`);
        await act(context, 'logs.blocklist', name, { removed: true });
        await blockLists.look();
      },
    }),
  ];
}

/** Whether the server may be asked is judged when it is. */
function placeOf(url: string | undefined, path: string | undefined): { url: string | null; path: string | null } {
  if ((url === undefined) === (path === undefined))
    throw logsError('invalid_request', 'A block list has either `url` or `path`.', { param: 'url' });
  if (path !== undefined && !isAbsolute(path))
    throw logsError('invalid_request', '`path` must begin with a slash.', { param: 'path' });
  if (url !== undefined && (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)))
    throw logsError('invalid_request', '`url` is no address of a web server.', { param: 'url' });
  return { url: url ?? null, path: path ?? null };
}
