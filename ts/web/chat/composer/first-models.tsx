/** Models that this machine has memory for, where a demonstration alone answers, or nothing does: each is one press away. */
import { useEffect, useState } from 'preact/hooks';
import { type Answer, call } from '../../api/call.ts';
import { useData } from '../../api/use-data.ts';
import { Button } from '../../design/button.tsx';
import { Notice } from '../../design/notice.tsx';
import { formatBytes } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { PullList } from '../../models/pull-list.tsx';
import { explain } from '../../session/explain.ts';
import { chatModels, forgetDemonstration, loadModels, models } from './models.ts';

type Offer = Answer<'GET /api/v1/models/catalogue'>['data'][number];

/** A model that has come is opened, tried in a process of its own and loaded before it is the default. */
const LOOK_MS = 1_000;
const MOST_LOOKS = 180;

export function FirstModels() {
  const { data, error } = useData(() => call('GET /api/v1/models/catalogue'));
  const [nBegun, setBegun] = useState(0);
  const [wrong, setWrong] = useState<unknown>();
  const [nLooks, setLooks] = useState(0);
  useEffect(() => {
    if (nLooks === 0) return;
    const timer = setTimeout(() => void look(nLooks, setLooks), LOOK_MS);
    return () => clearTimeout(timer);
  }, [nLooks]);
  const pull = (name: string): void => {
    setWrong(undefined);
    forgetDemonstration();
    call('POST /api/v1/models/pull', { body: { reference: name } }).then(() => setBegun((count) => count + 1), setWrong);
  };
  const offers = data?.data.filter((model) => model.is_first) ?? [];
  const fault = error ?? wrong;
  return (
    <section class="first-models" aria-label={t('first_models')}>
      <h2>{t('first_models')}</h2>
      {chatModels.value.length > 0 && <p class="small quiet">{t('first_models_detail')}</p>}
      {fault !== undefined && <Notice tone="danger">{explain(fault)}</Notice>}
      <ul>
        {offers.map((offer) => (
          <OfferRow key={offer.name} offer={offer} space={data?.space_bytes ?? undefined} nLooks={nLooks} onPull={pull} />
        ))}
      </ul>
      <PullList nBegun={nBegun} onDone={() => setLooks(1)} />
      <a class="small" href="/admin#models">
        {t('get_a_model')}
      </a>
    </section>
  );
}

/** The page shows other offers no longer once the server has another default. */
async function look(nLooks: number, setLooks: (nLooks: number) => void): Promise<void> {
  // Without an answer the next look may have one.
  await loadModels().catch(() => undefined);
  setLooks(nLooks < MOST_LOOKS ? nLooks + 1 : 0);
}

interface OfferRowProps {
  offer: Offer;
  space: number | undefined;
  nLooks: number;
  onPull(name: string): void;
}

function OfferRow({ offer: { name, size_bytes: size, license, note }, space, nLooks, onPull }: OfferRowProps) {
  const isHere = models.value.some(({ id }) => id === name);
  return (
    <li class="card">
      <div class="grow">
        <p class="row">
          <strong>{name}</strong>
          <span class="small quiet">{[formatBytes(size), license].join(' · ')}</span>
        </p>
        {/* The catalogue is in English. */}
        <p class="small quiet" lang="en">
          {note}
        </p>
      </div>
      {isHere ? (
        <span class="small" role="status">
          {nLooks === 0 ? t('model_stays_away', { name }) : t('model_is_coming', { name })}
        </span>
      ) : space !== undefined && size > space ? (
        <span class="small">{t('no_space_for_it')}</span>
      ) : (
        <Button look="plain" icon="download" aria-label={t('pull_named', { name })} onClick={() => onPull(name)}>
          {t('pull')}
        </Button>
      )}
    </li>
  );
}
