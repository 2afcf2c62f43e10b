import { useState } from 'preact/hooks';
import { call, request } from '../../api/call.ts';
import { firstAsked } from '../../api/first-asked.ts';
import { useData } from '../../api/use-data.ts';
import { Button } from '../../design/button.tsx';
import { stepAlong } from '../../design/direction.ts';
import { Empty } from '../../design/empty.tsx';
import { Notice } from '../../design/notice.tsx';
import { SelectField } from '../../design/select-field.tsx';
import { Table } from '../../design/table.tsx';
import { TextArea } from '../../design/text-area.tsx';
import { TextField } from '../../design/text-field.tsx';
import { formatNumber } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { certainty, type Token, tokensOf } from '../playground/tokens.ts';
import { ScreenFrame } from '../screen-frame.tsx';

const ALTERNATIVES = 5;

interface Asked {
  model: string;
  system: string;
  prompt: string;
  temperature: string;
  nTokens: string;
}

export function Screen() {
  const models = useData(() => call('GET /v1/models'));
  const able = (models.data?.data ?? []).filter(({ capabilities }) => capabilities.includes('chat'));
  const chatModels = able.map(({ id }) => id);
  const [asked, setAsked] = useState<Asked>({ model: '', system: '', prompt: '', temperature: '0.7', nTokens: '64' });
  const [tokens, setTokens] = useState<Token[]>();
  const [shown, setShown] = useState(0);
  const [wrong, setWrong] = useState<string>();
  const [running, setRunning] = useState<AbortController>();
  const change = (changes: Partial<Asked>): void => setAsked((before) => ({ ...before, ...changes }));
  const model = asked.model === '' ? (firstAsked(able)?.id ?? '') : asked.model;
  const ask = async (event: Event): Promise<void> => {
    event.preventDefault();
    const aborter = new AbortController();
    setRunning(aborter);
    setWrong(undefined);
    try {
      setTokens(await complete({ ...asked, model }, aborter.signal));
      setShown(0);
    } catch (error) {
      if (!aborter.signal.aborted) setWrong(explain(error));
    } finally {
      setRunning(undefined);
    }
  };
  return (
    <ScreenFrame
      title={t('playground')}
      detail={t('playground_detail')}
      error={models.error}
      isLoading={models.data === undefined}
    >
      {chatModels.length === 0 ? (
        <Empty icon="cube" title={t('no_models')}>
          <a href="#models">{t('get_a_model')}</a>
        </Empty>
      ) : (
        <form class="card stack" onSubmit={(event) => void ask(event)}>
          <SelectField
            label={t('model_reference')}
            value={model}
            options={chatModels.map((value) => ({ value, text: value }))}
            onChange={(value) => change({ model: value })}
          />
          <TextArea
            label={t('system_prompt')}
            value={asked.system}
            rows={2}
            maxLength={20_000}
            onInput={(system) => change({ system })}
          />
          <TextArea
            label={t('prompt')}
            value={asked.prompt}
            rows={4}
            required
            maxLength={100_000}
            onInput={(prompt) => change({ prompt })}
          />
          <div class="columns">
            <TextField
              label={t('temperature')}
              hint={t('temperature_hint')}
              type="number"
              min={0}
              max={2}
              step="0.05"
              value={asked.temperature}
              onInput={(temperature) => change({ temperature })}
            />
            <TextField
              label={t('max_tokens')}
              type="number"
              min={1}
              max={2048}
              step={1}
              required
              value={asked.nTokens}
              onInput={(nTokens) => change({ nTokens })}
            />
          </div>
          <div class="row">
            <Button look="main" type="submit" icon="play" busy={running !== undefined}>
              {t('run')}
            </Button>
            {running !== undefined && (
              <Button icon="stop" onClick={() => running.abort()}>
                {t('stop')}
              </Button>
            )}
          </div>
        </form>
      )}
      {wrong !== undefined && <Notice tone="danger">{wrong}</Notice>}
      {tokens !== undefined && <Answer tokens={tokens} shown={shown} onShow={setShown} />}
    </ScreenFrame>
  );
}

async function complete({ model, system, prompt, temperature, nTokens }: Asked, signal: AbortSignal): Promise<Token[]> {
  const messages = [...(system === '' ? [] : [{ role: 'system', content: system }]), { role: 'user', content: prompt }];
  const body = {
    model,
    messages,
    max_tokens: Number(nTokens),
    logprobs: true,
    top_logprobs: ALTERNATIVES,
    ...(temperature === '' ? {} : { temperature: Number(temperature) }),
  };
  const response = await request('POST /v1/chat/completions', { body, signal });
  const { choices = [] } = (await response.json()) as { choices?: Parameters<typeof tokensOf>[0][] };
  return tokensOf(choices[0]);
}

function Answer({ tokens, shown, onShow }: { tokens: readonly Token[]; shown: number; onShow(index: number): void }) {
  const token = tokens[shown];
  const percent = (probability: number): string => `${formatNumber(probability * 100, 1)} %`;
  const onKey = (event: KeyboardEvent): void => {
    const step = stepAlong(event.key);
    const next = shown + (step ?? 0);
    if (step === undefined || next < 0 || next >= tokens.length) return;
    event.preventDefault();
    onShow(next);
    (event.currentTarget as HTMLElement).querySelectorAll('button')[next]?.focus();
  };
  return (
    <section class="card stack" aria-label={t('answer')}>
      <div class="row small">
        {(['certain', 'likely', 'open', 'surprising'] as const).map((name) => (
          <span key={name} class={`token ${name}`}>
            {t(`token_${name}`)}
          </span>
        ))}
        <span class="quiet push">{t('tokens', { count: tokens.length })}</span>
      </div>
      {tokens.length === 0 && <p class="quiet">{t('no_tokens')}</p>}
      {/* One stop of the Tab key; arrow keys go from token to token. */}
      <div class="tokens" role="toolbar" aria-label={t('tokens_of_answer')} tabIndex={-1} onKeyDown={onKey}>
        {tokens.map(({ text, probability }, index) => (
          <button
            key={index}
            type="button"
            class={`token ${certainty(probability)}`}
            aria-pressed={index === shown}
            aria-label={`${visible(text)}, ${percent(probability)}`}
            tabIndex={index === shown ? 0 : -1}
            onClick={() => onShow(index)}
          >
            {text === '\n' ? '↵\n' : text}
          </button>
        ))}
      </div>
      {token !== undefined && (
        <Table
          label={t('alternatives')}
          rows={[...token.alternatives]}
          keyOf={({ text }) => text}
          columns={[
            { head: t('token'), cell: ({ text }) => <code>{visible(text)}</code> },
            { head: t('probability'), kind: 'number', cell: ({ probability }) => percent(probability) },
          ]}
        />
      )}
    </section>
  );
}

/** Blanks and line breaks have to be seen. */
function visible(text: string): string {
  return text.replaceAll(' ', '␣').replaceAll('\n', '↵').replaceAll('\t', '⇥');
}
