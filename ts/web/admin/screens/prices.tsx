import { call } from '../../api/call.ts';
import { Badge } from '../../design/badge.tsx';
import { t } from '../../i18n/language.ts';
import { PriceDialog, savePrices } from '../cloud/price-dialog.tsx';
import { listScreen } from '../list-screen.tsx';

export const Screen = listScreen({
  title: 'prices',
  detail: 'prices_detail',
  load: () => call('GET /api/v1/cloud/prices'),
  keyOf: ({ model }) => model,
  nameOf: ({ model }) => model,
  main: {
    text: 'price_add',
    icon: 'plus',
    window: ({ close, reload }) => <PriceDialog price={undefined} onClose={close} onSaved={reload} />,
  },
  columns: [
    { head: 'name', cell: ({ model }) => <span class="breakable">{model}</span> },
    { head: 'price_input', kind: 'number', cell: ({ input, currency }) => money(input, currency) },
    { head: 'price_output', kind: 'number', cell: ({ output, currency }) => money(output, currency) },
    { head: 'price_cached', kind: 'number', cell: ({ cache_read: cached, currency }) => money(cached, currency) },
    {
      head: 'price_source',
      cell: ({ origin, source, date }) => (
        <div class="two-lines">
          <span>
            <Badge tone={origin === 'own' ? 'accent' : 'neutral'}>{t(`price_${origin}`)}</Badge> {date}
          </span>
          {source !== undefined && <span class="small quiet breakable">{source}</span>}
        </div>
      ),
    },
  ],
  menu: (price) => [
    {
      text: t('price_edit'),
      icon: 'edit',
      window: ({ close, reload }) => <PriceDialog price={price} onClose={close} onSaved={reload} />,
    },
    ...(price.origin === 'own'
      ? [
          {
            text: t('price_drop'),
            icon: 'trash' as const,
            isDangerous: true,
            isApart: true,
            question: [t('price_drop'), t('price_drop_detail', { model: price.model }), t('delete')] as const,
            run: () => savePrices(({ [price.model]: _dropped, ...others }) => others),
          },
        ]
      : []),
  ],
});

function money(amount: string | undefined, currency: string): string {
  return amount === undefined ? '–' : `${amount} ${currency}`;
}
