/** Another value of a setting: checked, and saved for the next start where a page may do that; else as the line that sets it. */
import { useState } from 'preact/hooks';
import { type Answer, call } from '../api/call.ts';
import { Button } from '../design/button.tsx';
import { copyText } from '../design/clipboard.ts';
import { Notice } from '../design/notice.tsx';
import { SelectField } from '../design/select-field.tsx';
import { TextField } from '../design/text-field.tsx';
import { showToast } from '../design/toasts.tsx';
import { t } from '../i18n/language.ts';
import { attempt } from './attempt.ts';
import { FormDialog } from './form-dialog.tsx';

export type Setting = Answer<'GET /api/v1/system/settings'>['settings'][number];
type Proposed = Answer<'POST /api/v1/system/settings/check'>;

interface SettingDialogProps {
  setting: Setting;
  /** The key of the setting by default. */
  title?: string;
  onClose(): void;
  onSaved(): void;
}

export function SettingDialog({ setting, title = setting.key, onClose, onSaved }: SettingDialogProps) {
  const { key, help, locked_by: lockedBy, is_saved: isSaved } = setting;
  const [value, setValue] = useState(String(isSaved ? setting.saved : setting.value));
  const [proposed, setProposed] = useState<Proposed>();
  const isLocked = lockedBy !== null;
  const done = (text: string): void => {
    showToast(text);
    onSaved();
    onClose();
  };
  const send = async (): Promise<void> => {
    setProposed(undefined);
    if (isLocked) return setProposed(await call('POST /api/v1/system/settings/check', { body: { key, value } }));
    const saved = await call('PUT /api/v1/system/settings/{key}', { params: { key }, body: { value } });
    done(saved.is_pending ? t('setting_saved_pending', { key }) : t('setting_saved', { key }));
  };
  const forget = async (): Promise<void> => {
    const wasForgotten = await attempt(() => call('DELETE /api/v1/system/settings/{key}', { params: { key } }));
    if (wasForgotten) done(t('setting_forgotten', { key }));
  };
  return (
    <FormDialog title={title} action={isLocked ? t('check_value') : t('save')} send={send} onClose={onClose} onSent={() => {}}>
      <p class="small quiet">{help}</p>
      {lockedBy !== null && <Notice>{t(LOCKS[lockedBy], { variable: setting.environment })}</Notice>}
      {!isLocked && setting.needs_restart && <p class="small">{t('setting_needs_restart')}</p>}
      <ValueField setting={setting} value={value} onChange={setValue} />
      {isSaved && (
        <Button look="plain" icon="refresh" onClick={() => void forget()}>
          {t('setting_forget')}
        </Button>
      )}
      {proposed !== undefined && <ProposedLines proposed={proposed} />}
    </FormDialog>
  );
}

const LOCKS = {
  machine: 'setting_of_machine',
  environment: 'setting_of_environment',
  'command line': 'setting_of_command_line',
} as const;

function ValueField({ setting, value, onChange }: { setting: Setting; value: string; onChange(value: string): void }) {
  const choices = setting.choices ?? (typeof setting.value === 'boolean' ? ['true', 'false'] : undefined);
  if (choices !== undefined) {
    const options = choices.map((choice) => ({ value: choice, text: choice }));
    return <SelectField label={t('value')} hint={setting.accepts} value={value} options={options} onChange={onChange} />;
  }
  return <TextField label={t('value')} hint={setting.accepts} value={value} onInput={onChange} maxLength={4096} />;
}

function ProposedLines({ proposed }: { proposed: Proposed }) {
  return (
    <>
      <Notice>{t('setting_checked')}</Notice>
      {[proposed.toml, proposed.environment].map((line) => (
        <div class="row" key={line}>
          <code class="breakable">{line}</code>
          <Button class="push" size="small" icon="copy" label={t('copy_line', { line })} onClick={() => void copyText(line)} />
        </div>
      ))}
    </>
  );
}
