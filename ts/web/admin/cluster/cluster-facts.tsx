/** The cluster in a few facts, and what an administrator should do about it next. */
import type { Answer } from '../../api/call.ts';
import { type Fact, FactList } from '../../design/fact-list.tsx';
import { Notice } from '../../design/notice.tsx';
import { formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';

type Topology = Answer<'GET /api/v1/cluster/topology'>;
type Storage = Answer<'GET /api/v1/cluster/storage'>;
type Health = Answer<'GET /health'>;

interface ClusterFactsProps {
  topology: Topology;
  storage: Storage;
  map: Health['module_map'];
}

/** A node makes its certificate anew ten days before the end; a shorter time says that it did not. */
const CERTIFICATE_DAYS = 8;

export function ClusterFacts({ topology: { nodes, leader, epoch }, storage: { database, commit }, map }: ClusterFactsProps) {
  const leading = nodes.find(({ id }) => id === leader);
  const facts: Fact[] = [
    {
      name: t('nodes_ready'),
      value: t('of_all', { count: nodes.filter(({ state }) => state === 'ready').length, all: nodes.length }),
    },
    { name: t('node_leads'), value: leading?.name ?? t('nobody_leads') },
    { name: t('cluster_epoch'), value: String(epoch) },
    { name: t('cluster_database'), value: database === 'sqlite' ? 'SQLite' : 'PostgreSQL' },
    ...(commit === null ? [] : [{ name: t('cluster_commit'), value: String(commit) }]),
    { name: t('cluster_map'), value: map.stale ? t('stale') : t('cluster_map_current') },
  ];
  const next = nodes.filter(({ update }) => update === 'next').map(({ name }) => name);
  const ending = nodes.filter(({ certificate_expires_at: at, state }) => at !== null && state !== 'gone' && endsSoon(at));
  return (
    <section class="card stack" aria-label={t('cluster')}>
      <FactList facts={facts} />
      {next.length > 0 && <Notice tone="warn">{t('update_next', { names: next.join(', ') })}</Notice>}
      {ending.map(({ id, name, certificate_expires_at: at }) => (
        <Notice key={id} tone="warn">
          {t('certificate_ends', { name, time: formatTime(at) })}
        </Notice>
      ))}
    </section>
  );
}

function endsSoon(iso: string): boolean {
  return Date.parse(iso) - Date.now() < CERTIFICATE_DAYS * 86_400_000;
}
