import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { useData } from '../../api/use-data.ts';
import { Badge, type Tone } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { FactList } from '../../design/fact-list.tsx';
import { FileButton } from '../../design/file-button.tsx';
import { Notice } from '../../design/notice.tsx';
import { TextArea } from '../../design/text-area.tsx';
import { showToast } from '../../design/toasts.tsx';
import { formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { hasRole } from '../../session/session.ts';
import { ScreenFrame } from '../screen-frame.tsx';

const TONES: Record<string, Tone> = { active: 'good', evaluation: 'accent', grace: 'warn' };
/** The route takes no more, so that a larger file is no license. */
const MOST_BYTES = 65_536;

export function Screen() {
  const { data, error, reload } = useData(() => call('GET /api/v1/license/health'));
  return (
    <ScreenFrame
      title={t('license')}
      detail={t('license_detail')}
      error={error}
      isLoading={data === undefined}
      actions={data !== undefined && <Badge tone={TONES[data.status] ?? 'danger'}>{t(`license_${data.status}`)}</Badge>}
    >
      {data?.problem != null && <Notice tone="warn">{data.problem.detail}</Notice>}
      {data !== undefined && (
        <section class="card" aria-label={t('license')}>
          <FactList
            facts={[
              { name: t('license_tier'), value: data.tier },
              { name: t('license_features'), value: data.features.length === 0 ? '–' : data.features.join(', ') },
              { name: t('license_holder'), value: data.licensee ?? '–' },
              { name: t('license_id'), value: <code class="breakable">{data.license_id ?? '–'}</code> },
              { name: t('license_installation'), value: <code class="breakable">{data.installation}</code> },
              { name: t('expires'), value: formatTime(data.expires_at) },
              { name: t('license_grace_ends'), value: formatTime(data.grace_ends_at) },
            ]}
          />
        </section>
      )}
      {hasRole('superadmin') && <Install onInstalled={reload} />}
    </ScreenFrame>
  );
}

function Install({ onInstalled }: { onInstalled(): Promise<void> }) {
  const [text, setText] = useState('');
  const [wrong, setWrong] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const install = async (given: string): Promise<void> => {
    setBusy(true);
    setWrong(undefined);
    try {
      await call('PUT /api/v1/license', { body: parsed(given) });
      setText('');
      showToast(t('license_installed'));
      await onInstalled();
    } catch (error) {
      setWrong(explain(error));
    } finally {
      setBusy(false);
    }
  };
  const read = (file: File): void => {
    if (file.size > MOST_BYTES) setWrong(t('license_no_json'));
    else void file.text().then((content) => install(content));
  };
  return (
    <section class="card stack" aria-label={t('install_license')}>
      <h2>{t('install_license')}</h2>
      {wrong !== undefined && <Notice tone="danger">{wrong}</Notice>}
      <TextArea label={t('license_file')} hint={t('license_file_hint')} value={text} onInput={setText} rows={6} isCode />
      <div class="row">
        <FileButton text={t('choose_file')} accept=".json,application/json" onFile={read} busy={isBusy} />
        <Button look="main" disabled={text.trim() === ''} busy={isBusy} onClick={() => void install(text)}>
          {t('install')}
        </Button>
      </div>
    </section>
  );
}

function parsed(text: string): { format: 'svc-license-1'; key: string; terms: string; signature: string } {
  try {
    return JSON.parse(text) as ReturnType<typeof parsed>;
  } catch {
    throw new Error(t('license_no_json'));
  }
}
