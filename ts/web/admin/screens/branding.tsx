import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { useData } from '../../api/use-data.ts';
import { Button } from '../../design/button.tsx';
import { FileButton } from '../../design/file-button.tsx';
import { Notice } from '../../design/notice.tsx';
import { SelectField } from '../../design/select-field.tsx';
import { TextArea } from '../../design/text-area.tsx';
import { TextField } from '../../design/text-field.tsx';
import { showToast } from '../../design/toasts.tsx';
import { t } from '../../i18n/language.ts';
import { Brand } from '../../session/brand.tsx';
import { type Branding, branding, PLAIN, showBranding } from '../../session/branding.ts';
import { explain } from '../../session/explain.ts';
import { hasRole, who } from '../../session/session.ts';
import { ScreenFrame } from '../screen-frame.tsx';

export function Screen() {
  const own = who.value?.tenant ?? 'default';
  const [tenant, setTenant] = useState(own);
  const tenants = useData(() => call('GET /api/v1/identity/tenants'));
  const saved = useData(() => call('GET /api/v1/tenants/{tenantId}/theme', { params: { tenantId: tenant } }), [tenant]);
  // What is only tried here ends with the screen.
  useEffect(() => {
    const before = branding.value;
    return () => showBranding(kept ?? before);
  }, []);
  const options = (tenants.data?.data ?? []).map(({ id, name }) => ({ value: id, text: `${name} (${id})` }));
  return (
    <ScreenFrame
      title={t('branding')}
      detail={t('branding_detail')}
      error={saved.error ?? tenants.error}
      isLoading={saved.data === undefined}
      actions={
        hasRole('superadmin') &&
        options.length > 1 && <SelectField label={t('tenant')} value={tenant} options={options} onChange={setTenant} />
      }
    >
      {saved.data !== undefined && (
        <Form key={tenant} tenant={tenant} saved={saved.data} isOwn={tenant === own} onSaved={saved.reload} />
      )}
    </ScreenFrame>
  );
}

/** What the own tenant's pages look like after a change was saved here. */
let kept: Branding | undefined;

interface FormProps {
  tenant: string;
  saved: Branding;
  isOwn: boolean;
  onSaved(): Promise<void>;
}

function Form({ tenant, saved, isOwn, onSaved }: FormProps) {
  const params = { tenantId: tenant };
  const [theme, setTheme] = useState(saved);
  const [wrong, setWrong] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  // The console itself is the preview.
  useLayoutEffect(() => showBranding(theme), [theme]);
  const change = (changes: Partial<Branding>): void => setTheme((before) => ({ ...before, ...changes }));
  const attempt = async (work: () => Promise<Branding>): Promise<void> => {
    setBusy(true);
    setWrong(undefined);
    try {
      const found = await work();
      if (isOwn) kept = found;
      setTheme(found);
      showToast(t('saved'));
      await onSaved();
    } catch (error) {
      setWrong(explain(error));
    } finally {
      setBusy(false);
    }
  };
  const save = (event: Event): void => {
    event.preventDefault();
    const { logo: _, ...body } = theme;
    void attempt(() => call('PUT /api/v1/tenants/{tenantId}/theme', { params, body }));
  };
  const upload = (file: File): void => {
    void attempt(async () => ({
      ...theme,
      logo: (await call('PUT /api/v1/tenants/{tenantId}/branding/logo', { params, body: file })).logo,
    }));
  };
  const removeLogo = (): void => {
    void attempt(async () => {
      await call('DELETE /api/v1/tenants/{tenantId}/branding/logo', { params });
      return { ...theme, logo: null };
    });
  };
  const reset = (): void => setTheme({ ...PLAIN, logo: theme.logo });
  return (
    <div class="plots">
      <form class="card stack" onSubmit={save}>
        {wrong !== undefined && <Notice tone="danger">{wrong}</Notice>}
        <TextField
          label={t('product_name')}
          hint={t('product_name_hint')}
          value={theme.name ?? ''}
          maxLength={60}
          onInput={(name) => change({ name: name || null })}
        />
        <TextArea
          label={t('welcome_text')}
          hint={t('welcome_text_hint')}
          value={theme.welcome ?? ''}
          rows={2}
          maxLength={300}
          onInput={(text) => change({ welcome: text.replaceAll('\n', ' ') || null })}
        />
        <Colour label={t('accent_light')} value={theme.accent} plain="#0b6657" onChange={(accent) => change({ accent })} />
        <Colour
          label={t('accent_dark')}
          value={theme.accent_dark}
          plain="#68cbb4"
          onChange={(accent) => change({ accent_dark: accent })}
        />
        <div class="row">
          <FileButton
            text={t('choose_logo')}
            accept="image/png,image/jpeg,image/webp"
            icon="image"
            busy={isBusy}
            onFile={upload}
          />
          {theme.logo !== null && (
            <Button look="danger" onClick={removeLogo} busy={isBusy}>
              {t('remove_logo')}
            </Button>
          )}
        </div>
        <p class="small quiet">{t('logo_hint')}</p>
        <div class="row">
          <Button look="main" type="submit" busy={isBusy}>
            {t('save')}
          </Button>
          <Button onClick={reset}>{t('as_product')}</Button>
        </div>
      </form>
      <section class="card stack preview" aria-label={t('preview')}>
        <h2>{t('preview')}</h2>
        <p class="small quiet">{t('preview_hint')}</p>
        <Brand />
        {theme.welcome !== null && <p class="breakable">{theme.welcome}</p>}
        <div class="row">
          <Button look="main">{t('sign_in')}</Button>
          <Button look="plain">{t('create_account')}</Button>
          <a href={`/login?tenant=${encodeURIComponent(tenant)}`}>{t('open_sign_in_page')}</a>
        </div>
      </section>
    </div>
  );
}

function Colour({
  label,
  value,
  plain,
  onChange,
}: {
  label: string;
  value: string | null;
  plain: string;
  onChange(value: string | null): void;
}) {
  return (
    <div class="row at-foot">
      <TextField label={label} type="color" value={value ?? plain} onInput={onChange} />
      {value === null ? <span class="small quiet">{t('of_the_product')}</span> : <code>{value}</code>}
      {value !== null && (
        <Button size="small" aria-label={t('colour_as_product', { name: label })} onClick={() => onChange(null)}>
          {t('as_product')}
        </Button>
      )}
    </div>
  );
}
