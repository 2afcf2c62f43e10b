import { useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { FactList } from '../../design/fact-list.tsx';
import { Table } from '../../design/table.tsx';
import { Tabs } from '../../design/tabs.tsx';
import { formatNumber } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';

const ROWS = [
  { id: 'alpha', size: 12 },
  { id: 'beta', size: 1024 },
];

export function ListSamples() {
  const [tab, setTab] = useState('one');
  const [nRows, setRows] = useState(1);
  return (
    <section class="card stack" aria-label={t('sample_table')}>
      <h2>{t('sample_table')}</h2>
      <Tabs
        label={t('sample_tabs')}
        tabs={[
          { id: 'one', text: t('sample_first') },
          { id: 'two', text: t('sample_second') },
        ]}
        chosen={tab}
        onChoose={setTab}
      />
      <Table
        label={t('sample_rows')}
        rows={ROWS.slice(0, nRows)}
        more={nRows < ROWS.length ? () => setRows(ROWS.length) : undefined}
        keyOf={({ id }) => id}
        columns={[
          { head: t('name'), cell: ({ id }) => id },
          { head: t('size'), kind: 'number', cell: ({ size }) => formatNumber(size) },
          {
            head: t('actions'),
            kind: 'actions',
            cell: ({ id }) => (
              <Button size="small" aria-label={t('details_of', { name: id })}>
                {t('details')}
              </Button>
            ),
          },
        ]}
      />
      <h3>{t('sample_facts')}</h3>
      <FactList
        facts={[
          { name: t('sample_fact'), value: t('sample_first') },
          { name: t('sample_field_code'), value: <code class="breakable">svc_example_0123456789</code> },
        ]}
      />
    </section>
  );
}
