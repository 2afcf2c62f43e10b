/** Head, actions and failure of a screen. */
import type { ComponentChildren } from 'preact';
import { Refusal } from '../../client/refusal.ts';
import { Button } from '../design/button.tsx';
import { Notice } from '../design/notice.tsx';
import { t } from '../i18n/language.ts';
import { signInAgain } from '../session/ended-session.ts';
import { explain } from '../session/explain.ts';

function Failure({ error }: { error: unknown }) {
  const isEnded = error instanceof Refusal && error.status === 401;
  const signIn = async (): Promise<void> => {
    if (await signInAgain()) location.reload();
  };
  return (
    <Notice tone="danger">
      <p>{explain(error)}</p>
      {isEnded && (
        <Button look="plain" size="small" icon="user" onClick={() => void signIn()}>
          {t('sign_in')}
        </Button>
      )}
    </Notice>
  );
}

interface ScreenFrameProps {
  title: string;
  detail?: string | undefined;
  actions?: ComponentChildren;
  error?: unknown;
  /** Nothing has come yet. */
  isLoading?: boolean;
  children?: ComponentChildren;
}

export function ScreenFrame({ title, detail, actions, error, isLoading = false, children }: ScreenFrameProps) {
  return (
    <>
      <header class="screen-head">
        <div>
          <h1>{title}</h1>
          {detail !== undefined && <p class="small quiet">{detail}</p>}
        </div>
        <div class="row push">{actions}</div>
      </header>
      {error !== undefined && <Failure error={error} />}
      {isLoading && error === undefined ? <span class="spinner" role="status" aria-label={t('loading')} /> : children}
    </>
  );
}
