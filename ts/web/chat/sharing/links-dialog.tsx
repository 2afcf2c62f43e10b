/** Links to something of the reader's, for others of the tenant: made, copied, taken back. */
import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { copyText } from '../../design/clipboard.ts';
import { Dialog } from '../../design/dialog.tsx';
import { Notice } from '../../design/notice.tsx';
import { formatTime } from '../../i18n/format.ts';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';

interface Link {
  share: string;
  path: string;
  created_at: string;
  /** The version of an artifact. */
  version?: number;
}

interface LinksDialogProps {
  detail: string;
  list(): Promise<readonly Link[]>;
  make(): Promise<unknown>;
  end(share: string): Promise<unknown>;
  onClose(): void;
}

export function LinksDialog({ detail, list, make, end, onClose }: LinksDialogProps) {
  const [links, setLinks] = useState<readonly Link[]>([]);
  const [error, setError] = useState<unknown>();
  const attempt = (work: Promise<unknown>): void => {
    setError(undefined);
    work.then(list).then(setLinks).catch(setError);
  };
  useEffect(() => attempt(Promise.resolve()), []);
  return (
    <Dialog title={t('share')} onClose={onClose}>
      <p class="small quiet">{detail}</p>
      {error !== undefined && <Notice tone="danger">{explain(error)}</Notice>}
      <ul class="shares">
        {links.map((link) => (
          <LinkRow key={link.share} link={link} onEnd={() => attempt(end(link.share))} />
        ))}
      </ul>
      <div class="buttons">
        <Button look="main" icon="link" data-first onClick={() => attempt(make())}>
          {t('share_make')}
        </Button>
      </div>
    </Dialog>
  );
}

function LinkRow({ link: { path, version, created_at: createdAt }, onEnd }: { link: Link; onEnd(): void }) {
  const address = new URL(path, location.href).href;
  const facts = [version === undefined ? '' : t('version_number', { n: version }), formatTime(createdAt)];
  return (
    <li>
      <code class="address">{address}</code>
      <div class="row">
        <span class="small quiet">{facts.filter(Boolean).join(' · ')}</span>
        <Button class="push" size="small" icon="copy" onClick={() => copyText(address)}>
          {t('copy_link')}
        </Button>
        <Button size="small" icon="close" onClick={onEnd}>
          {t('share_end')}
        </Button>
      </div>
    </li>
  );
}
