/** Collected logs, for superadmins. */
import Type from 'typebox';
import type { Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import type { TenantRules } from '../../platform/module/tenant-rules.ts';
import { named } from '../../platform/schema/named.ts';
import type { Collection } from './collection/collection.ts';
import { CollectionConfig } from './collection/collection-config.ts';
import { logsError, logsErrors } from './errors.ts';
import type { LogIndex } from './index/log-index.ts';

const PATH = '/api/v1/logs';
const MAX_BODY = 4 * 1024 * 1024;

const Nullable = <S extends Type.TSchema>(schema: S, options: Type.TSchemaOptions = {}) =>
  Type.Union([schema, Type.Null()], options);
const Shown = named(
  'LogCollectionShown',
  Type.Object({
    ...CollectionConfig.properties,
    applied: Type.Boolean({ description: 'Whether it is in force.' }),
  }),
);
const Applied = named(
  'LogCollectionApplied',
  Type.Object({ applied_at: Type.String(), listeners: Type.Integer(), restart_ms: Type.Integer() }),
);
const Status = named(
  'LogCollectionStatus',
  Type.Object({
    reading: Nullable(Type.String({ description: 'The copy that is read.' })),
    in_step: Type.Boolean({ description: 'Whether both copies have the same lines.' }),
    copies: Type.Array(
      Type.Object({
        path: Type.String(),
        bytes: Type.Integer(),
        free_bytes: Nullable(Type.Integer()),
        last_write_at: Nullable(Type.String()),
        error: Nullable(Type.String()),
        missing_lines: Type.Integer({ description: 'Lines of open hours that the other copy has.' }),
      }),
    ),
    index: Type.Object({
      lines: Type.Integer({ description: 'Lines that the index has; newer ones are searched without it.' }),
      bytes: Type.Integer(),
      lag_seconds: Type.Integer(),
      quarantined: Type.Integer({ description: 'Lines that cannot be read; `cache/logs/quarantine.jsonl` says where they are.' }),
    }),
    rsyslog: Type.Object({
      state: Type.Enum(['missing', 'running', 'stopped']),
      pid: Nullable(Type.Integer()),
      version: Nullable(Type.String()),
      stats: Type.Record(Type.String(), Type.Unknown(), { description: 'What impstats wrote last, by its parts.' }),
    }),
    store: Nullable(
      Type.Object({
        kind: Type.Literal('clickhouse'),
        error: Nullable(Type.String({ description: 'Why it takes no lines; they wait in the files.' })),
        sent_lines: Type.Integer({ description: 'Since the start.' }),
        waiting_bytes: Type.Integer(),
        hours_left: Type.Integer({ description: 'Hours from before there was the store: `migrate` sends them.' }),
        hours_missed: Type.Integer({ description: 'Hours that were removed before all of them was sent.' }),
      }),
      { description: 'The database of `logs.store.url`; null: there are the files alone.' },
    ),
    applied_at: Nullable(Type.String()),
  }),
);
const Migrating = named('LogStoreMigrating', Type.Object({ started: Type.Boolean() }));
const Repaired = named('LogCollectionRepaired', Type.Object({ files: Type.Integer(), lines: Type.Integer() }));

const { get, put, post } = routes({ tag: 'Logs', auth: 'superadmin', errors: logsErrors, maxBody: MAX_BODY });

export function logRoutes(
  collection: Collection,
  index: Pick<LogIndex, 'shown' | 'shownStore' | 'migrate'>,
  tenants: Pick<TenantRules, 'exists'>,
): Route[] {
  const shown = () => {
    if (collection.shown === undefined) throw logsError('rsyslog_not_configured', 'No collection was configured on this node.');
    return collection.shown;
  };
  return [
    get(`${PATH}/rsyslog/config`, {
      summary: 'How this node collects logs',
      answer: Shown,
      errors: ['rsyslog_not_configured'],
      handle: shown,
    }),
    put(`${PATH}/rsyslog/config`, {
      summary: 'Say how this node collects logs; `apply` puts it into force',
      description:
        'rsyslog writes each line to both copies, by class and hour of reception. Keys of TLS are sealed and never answered.',
      body: CollectionConfig,
      answer: Shown,
      errors: ['invalid_request'],
      handle: async ({ body }) => {
        for (const { tenant } of body.sources)
          if (tenant !== undefined && !(await tenants.exists(tenant)))
            throw logsError('invalid_request', `There is no tenant ${tenant}.`, { param: 'sources' });
        await collection.configure(body);
        return shown();
      },
    }),
    post(`${PATH}/rsyslog/apply`, {
      summary: 'Put the configuration into force',
      description:
        'rsyslog checks and starts with it, and a line through every listener must be in both copies within five seconds; else the one before is in force again.',
      answer: Applied,
      errors: ['rsyslog_not_configured', 'rsyslog_config_invalid', 'rsyslog_missing'],
      handle: () => collection.apply(),
    }),
    get(`${PATH}/status`, {
      summary: 'Which copy is read, and whether both are in step',
      answer: Status,
      handle: async () => ({ ...(await collection.status()), index: index.shown, store: index.shownStore }),
    }),
    post(`${PATH}/migrate`, {
      summary: 'Send all hours to the database of `logs.store.url`, also those from before it was set',
      description: 'It goes on in the background; `status` says how much waits. A line that was sent before stays one.',
      answer: Migrating,
      errors: ['store_not_configured', 'logs_unavailable'],
      handle: async () => {
        await index.migrate();
        return { started: true };
      },
    }),
    post(`${PATH}/repair`, {
      summary: 'Close hours that are over, and compare and repair packed ones',
      answer: Repaired,
      errors: ['rsyslog_not_configured'],
      handle: () => collection.repair(),
    }),
  ];
}
