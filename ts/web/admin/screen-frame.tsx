/** Head, actions and failure of a screen. */
import type { ComponentChildren } from 'preact';
import { Notice } from '../design/notice.tsx';
import { t } from '../i18n/language.ts';
import { explain } from '../session/explain.ts';

interface ScreenFrameProps {
  title: string;
  detail?: string;
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
      {error !== undefined && <Notice tone="danger">{explain(error)}</Notice>}
      {isLoading && error === undefined ? <span class="spinner" role="status" aria-label={t('loading')} /> : children}
    </>
  );
}
