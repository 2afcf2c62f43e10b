/** Which model answers: what it can do, how large it is, and whether it is in memory. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Badge } from '../../design/badge.tsx';
import { Icon } from '../../design/icon.tsx';
import { showToast } from '../../design/toasts.tsx';
import { formatBytes, formatNumber } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { keepModel } from '../thread/change-conversation.ts';
import { areModelsKnown, chatModels, chosenModel, loadModels, type Model } from './models.ts';

export function ModelPicker() {
  const [isOpen, setOpen] = useState(false);
  const holder = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    // Others may have been installed or loaded since. Without an answer the list is the one that was there.
    loadModels().catch(() => undefined);
    holder.current?.querySelector<HTMLElement>('[aria-checked="true"], [role="menuitemradio"]')?.focus();
    const onPress = (event: Event): void => {
      if (!holder.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener('pointerdown', onPress);
    return () => document.removeEventListener('pointerdown', onPress);
  }, [isOpen]);
  const close = (): void => {
    setOpen(false);
    holder.current?.querySelector<HTMLElement>('button')?.focus();
  };
  return (
    <div class="model-picker" ref={holder}>
      <button
        type="button"
        class="button bare"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        title={t('choose_model')}
        onClick={() => setOpen(!isOpen)}
      >
        <span class="model-name">{chosenModel.value ?? (areModelsKnown.value ? t('no_model') : '…')}</span>
        <Icon name="down" />
      </button>
      {isOpen && (
        <div
          class="model-list"
          role="menu"
          tabIndex={-1}
          aria-label={t('choose_model')}
          onKeyDown={(event) => onKey(event, close)}
        >
          {chatModels.value.length === 0 && <p class="small quiet">{t('no_chat_model')}</p>}
          {chatModels.value.map((model) => (
            <ModelRow key={model.id} model={model} close={close} />
          ))}
        </div>
      )}
    </div>
  );
}

function ModelRow({ model, close }: { model: Model; close(): void }) {
  const { id, capabilities, size_bytes: sizeBytes, n_params: nParams, state, context_length: contextLength, note } = model;
  const { documents, backend, serving_state: servingState } = model;
  const facts = [
    nParams === undefined ? '' : t('parameters_count', { count: formatNumber(nParams / 1e6, nParams < 1e7 ? 1 : 0) }),
    sizeBytes === undefined ? '' : formatBytes(sizeBytes),
    contextLength === undefined ? '' : t('context_tokens', { count: contextLength }),
  ];
  const choose = (): void => {
    close();
    void keepModel(id).catch((error: unknown) => showToast(explain(error)));
  };
  return (
    <button type="button" role="menuitemradio" aria-checked={chosenModel.value === id} class="model-row" onClick={choose}>
      <span class="row">
        <strong>{id}</strong>
        {state === 'loaded' && <Badge tone="good">{t('loaded')}</Badge>}
        {backend !== undefined && <Badge tone={servingState === 'ok' ? 'accent' : 'warn'}>{t('elsewhere', { backend })}</Badge>}
        {capabilities
          .filter((ability) => ability !== 'chat')
          .map((ability) => (
            <Badge key={ability}>{abilityName(ability)}</Badge>
          ))}
      </span>
      <span class="small quiet">{facts.filter(Boolean).join(' · ')}</span>
      {documents !== undefined && <span class="small quiet">{t(`documents_${documents}`)}</span>}
      {note !== undefined && <span class="small quiet">{note}</span>}
    </button>
  );
}

const ABILITIES = ['tools', 'vision', 'audio', 'thinking', 'embeddings', 'rerank'] as const;

/** One that this page does not know is shown as the server has it. */
function abilityName(ability: string): string {
  const known = ABILITIES.find((each) => each === ability);
  return known === undefined ? ability : t(`ability_${known}`);
}

function onKey(event: KeyboardEvent, close: () => void): void {
  const rows = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('[role="menuitemradio"]')];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === 'Escape' || event.key === 'Tab') close();
  else if (step !== undefined) rows[(at + step + rows.length) % rows.length]?.focus();
  else return;
  event.preventDefault();
  event.stopPropagation();
}
