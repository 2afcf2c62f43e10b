import { signal } from '@preact/signals';
import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call } from '../api/call.ts';
import { Button } from '../design/button.tsx';
import { Empty } from '../design/empty.tsx';
import { Icon } from '../design/icon.tsx';
import { Notice } from '../design/notice.tsx';
import { t } from '../i18n/language.ts';
import { AccountMenu } from '../session/account-menu.tsx';
import { Brand } from '../session/brand.tsx';
import { productName } from '../session/branding.ts';
import { goToSignIn, hasRole, who } from '../session/session.ts';
import { ScreenFrame } from './screen-frame.tsx';
import { SCREENS, type ScreenEntry } from './screens.ts';

const isNavOpen = signal(false);

function addressed(): string {
  return location.hash.slice(1);
}

export function AdminPage() {
  const [id, setId] = useState(addressed());
  useEffect(() => {
    const follow = (): void => {
      setId(addressed());
      isNavOpen.value = false;
      // A role may have been switched meanwhile.
      void askModules();
    };
    addEventListener('hashchange', follow);
    // The address may have changed since the page was drawn.
    follow();
    return () => removeEventListener('hashchange', follow);
  }, []);
  const groups = Object.entries(SCREENS).map(([group, screens]) => ({
    title: t(`group_${group as keyof typeof SCREENS}`),
    seen: screens.filter(({ least, module }) => hasRole(least) && runs(module)),
  }));
  const seen = groups.flatMap((group) => group.seen);
  const screen = seen.find((each) => idOf(each) === id) ?? seen[0];
  return (
    <div class="admin">
      <button type="button" class="skip" onClick={skip}>
        {t('skip_to_content')}
      </button>
      <div class="admin-top">
        <Button
          icon="menu"
          label={t('navigation')}
          aria-expanded={isNavOpen.value}
          onClick={() => (isNavOpen.value = !isNavOpen.value)}
        />
        <Brand />
      </div>
      <nav class={isNavOpen.value ? 'admin-nav open' : 'admin-nav'} aria-label={t('navigation')}>
        <a class="brand-link" href="/chat" aria-label={`${productName()}, ${t('chat')}`}>
          <Brand />
        </a>
        {groups.map((group) => (
          <Group key={group.title} title={group.title} screens={group.seen} shown={screen} />
        ))}
        <div class="admin-account">
          <AccountMenu />
        </div>
      </nav>
      <main id="content" tabIndex={-1}>
        {who.value === undefined ? <SignInFirst /> : screen !== undefined && <Shown key={idOf(screen)} screen={screen} />}
      </main>
    </div>
  );
}

/** Modules that the node runs, or undefined where it did not say: then everything is shown, and the server says what is missing. */
const running = signal<readonly string[] | undefined>(undefined);

function runs(module: string | undefined): boolean {
  return module === undefined || (running.value?.includes(module) ?? true);
}

async function askModules(): Promise<void> {
  running.value = (await call('GET /health').catch(() => undefined))?.modules;
}

function idOf({ id, title }: ScreenEntry): string {
  return id ?? title;
}

function skip(): void {
  document.getElementById('content')?.focus();
}

function Group({ title, screens, shown }: { title: string; screens: readonly ScreenEntry[]; shown: ScreenEntry | undefined }) {
  if (screens.length === 0) return null;
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <ul>
        {screens.map((screen) => (
          <li key={idOf(screen)}>
            <a href={`#${idOf(screen)}`} aria-current={shown === screen ? 'page' : undefined}>
              <Icon name={screen.icon} />
              {t(screen.title)}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Shown({ screen }: { screen: ScreenEntry }) {
  const [component, setComponent] = useState<{ View: FunctionComponent } | undefined>();
  const [isMissing, setMissing] = useState(false);
  const title = `${t(screen.title)} · ${productName()}`;
  useEffect(() => {
    document.title = title;
  }, [title]);
  useEffect(() => {
    screen.load().then(
      ({ Screen: View }) => setComponent({ View }),
      () => setMissing(true),
    );
  }, [screen]);
  if (isMissing) return <Missing title={t(screen.title)} />;
  return component === undefined ? <span class="spinner" role="status" aria-label={t('loading')} /> : <component.View />;
}

/** The script of a screen did not come: a server that was updated meanwhile has other names for its files. */
function Missing({ title }: { title: string }) {
  return (
    <ScreenFrame title={title}>
      <Notice tone="danger">{t('screen_missing')}</Notice>
      <div>
        <Button look="main" icon="refresh" onClick={() => location.reload()}>
          {t('reload_page')}
        </Button>
      </div>
    </ScreenFrame>
  );
}

function SignInFirst() {
  return (
    <Empty icon="shield" title={t('console_needs_sign_in')}>
      <Button look="main" onClick={goToSignIn}>
        {t('sign_in')}
      </Button>
    </Empty>
  );
}
