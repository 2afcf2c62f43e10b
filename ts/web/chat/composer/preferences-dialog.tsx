/** Instructions and sampling of the conversation that is open, or of the next one. */
import { useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { directionOf } from '../../design/direction.ts';
import { Field } from '../../design/field.tsx';
import { Switch } from '../../design/switch.tsx';
import { TextField } from '../../design/text-field.tsx';
import { showToast } from '../../design/toasts.tsx';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { openDialog } from '../dialogs.ts';
import { keepPreferences } from '../thread/change-conversation.ts';
import { preferences } from '../thread/shown-thread.ts';
import type { Preferences } from './preferences.ts';

const textOf = (value: number | undefined): string => (value === undefined ? '' : String(value));
const numberOf = (text: string): number | undefined => (text.trim() === '' ? undefined : Number(text));

export function PreferencesDialog() {
  const [given, setGiven] = useState<Preferences>(preferences.value);
  const close = (): void => {
    openDialog.value = undefined;
  };
  const save = (event: Event): void => {
    event.preventDefault();
    close();
    void keepPreferences(given).catch((error: unknown) => showToast(explain(error)));
  };
  return (
    <Dialog title={t('preferences')} onClose={close} closesOutside={false}>
      <form class="stack" onSubmit={save}>
        <Field label={t('system_prompt')} hint={t('system_prompt_hint')}>
          {(control) => (
            <textarea
              class="input"
              rows={5}
              dir={directionOf(given.system)}
              maxLength={20_000}
              data-first
              {...control}
              value={given.system}
              onInput={(event) => setGiven({ ...given, system: event.currentTarget.value })}
            />
          )}
        </Field>
        <div class="columns">
          <TextField
            label={t('temperature')}
            hint={t('temperature_hint')}
            type="number"
            min={0}
            max={2}
            step="0.05"
            value={textOf(given.temperature)}
            onInput={(text) => setGiven({ ...given, temperature: numberOf(text) })}
          />
          <TextField
            label={t('top_p')}
            hint={t('top_p_hint')}
            type="number"
            min={0}
            max={1}
            step="0.01"
            value={textOf(given.top_p)}
            onInput={(text) => setGiven({ ...given, top_p: numberOf(text) })}
          />
          <TextField
            label={t('max_tokens')}
            hint={t('max_tokens_hint')}
            type="number"
            min={1}
            max={1_000_000}
            step={1}
            value={textOf(given.max_tokens)}
            onInput={(text) => setGiven({ ...given, max_tokens: numberOf(text) })}
          />
        </div>
        <Switch
          label={t('uses_tools')}
          checked={given.uses_tools}
          onChange={(uses_tools) => setGiven({ ...given, uses_tools })}
        />
        <p class="quiet">{t('uses_tools_hint')}</p>
        <div class="buttons">
          <Button onClick={close}>{t('cancel')}</Button>
          <Button look="main" type="submit">
            {t('save')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
