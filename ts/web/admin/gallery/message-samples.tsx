import { Badge, type Tone } from '../../design/badge.tsx';
import { Empty } from '../../design/empty.tsx';
import { Notice } from '../../design/notice.tsx';
import { Progress } from '../../design/progress.tsx';
import { Secret } from '../../design/secret.tsx';
import { SentBadge } from '../../design/sent-badge.tsx';
import { t } from '../../i18n/language.ts';

const TONES: readonly Tone[] = ['neutral', 'good', 'warn', 'danger', 'accent'];

export function MessageSamples() {
  return (
    <section class="card stack" aria-label={t('sample_messages')}>
      <h2>{t('sample_messages')}</h2>
      <Notice>{t('sample_notice')}</Notice>
      <Notice tone="warn">{t('sample_notice_warn')}</Notice>
      <Notice tone="danger">{t('sample_notice_danger')}</Notice>
      <div class="row">
        {TONES.map((tone) => (
          <Badge key={tone} tone={tone}>
            {t(`tone_${tone}`)}
          </Badge>
        ))}
        <SentBadge state="sending" />
        <SentBadge state="outcome_unknown" />
      </div>
      <Progress label={t('sample_known')} value={0.4} />
      <Progress label={t('sample_unknown')} />
      <span class="spinner" role="img" aria-label={t('sample_spinner')} />
      <Secret value="svc_example_0123456789" />
      <Empty icon="book" title={t('sample_empty')}>
        <span>{t('sample_empty_detail')}</span>
      </Empty>
    </section>
  );
}
