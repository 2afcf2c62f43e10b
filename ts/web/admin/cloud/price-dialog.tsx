/** Sets what a model of a provider costs on this node. */
import { useState } from 'preact/hooks';
import type { Body } from '../../../client/client.ts';
import { type Answer, call } from '../../api/call.ts';
import { TextField } from '../../design/text-field.tsx';
import { t } from '../../i18n/language.ts';
import { FormDialog } from '../form-dialog.tsx';

type Price = Answer<'GET /api/v1/cloud/prices'>['data'][number];
type Table = Body<'PUT /api/v1/cloud/prices'>['prices'];

/** The form has them in this order. */
const PARTS = ['input', 'output', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'reasoning', 'image', 'audio'] as const;
type Part = (typeof PARTS)[number];

interface PriceDialogProps {
  /** Undefined: of another model. */
  price: Price | undefined;
  onClose(): void;
  onSaved(): Promise<void>;
}

/** All prices of this node are set at once: those that others have set meanwhile are read first. */
export async function savePrices(change: (own: Table) => Table): Promise<void> {
  const { data } = await call('GET /api/v1/cloud/prices');
  const own = data.filter(({ origin }) => origin === 'own');
  const table = Object.fromEntries(own.map(({ model, origin: _own, ...price }) => [model, price]));
  await call('PUT /api/v1/cloud/prices', { body: { prices: change(table) } });
}

export function PriceDialog({ price, onClose, onSaved }: PriceDialogProps) {
  const [model, setModel] = useState(price?.model ?? '');
  const [currency, setCurrency] = useState(price?.currency ?? 'USD');
  const [parts, setParts] = useState(
    Object.fromEntries(PARTS.map((part) => [part, price?.[part] ?? ''])) as Record<Part, string>,
  );
  const send = async (): Promise<void> => {
    const amounts = PARTS.map((part) => [part, parts[part].trim()] as const).filter(([, amount]) => amount !== '');
    const date = new Date().toISOString().slice(0, 10);
    const set = { ...Object.fromEntries(amounts), currency: currency.trim().toUpperCase(), source: t('price_own'), date };
    await savePrices((own) => ({ ...own, [model.trim()]: set }));
    await onSaved();
  };
  return (
    <FormDialog title={price === undefined ? t('price_add') : t('price_edit')} action={t('save')} send={send} onClose={onClose}>
      <TextField label={t('name')} value={model} onInput={setModel} required maxLength={200} disabled={price !== undefined} />
      <TextField label={t('price_currency')} value={currency} onInput={setCurrency} required maxLength={3} />
      {PARTS.map((part) => (
        <TextField
          key={part}
          label={t(`price_of_${part}`)}
          hint={t('prices_detail')}
          value={parts[part]}
          onInput={(amount) => setParts({ ...parts, [part]: amount })}
          maxLength={30}
        />
      ))}
    </FormDialog>
  );
}
