/** Begins and ends dictation, and shows how loud the speaker is. */
import { Button } from '../../design/button.tsx';
import { t } from '../../i18n/language.ts';
import { canDictate, dictation, level, startDictation, stopDictation } from './dictation.ts';

/** A voice near the microphone is about this loud, of a full scale of 1. */
const LOUD = 0.25;

export function DictationButton() {
  const state = dictation.value;
  if (!canDictate.value) return null;
  if (state !== 'listening')
    return <Button icon="microphone" label={t('dictate')} busy={state !== 'off'} onClick={() => void startDictation()} />;
  return (
    <>
      <Button look="danger" icon="stop" label={t('stop_dictation')} onClick={() => void stopDictation()} />
      <meter class="dictation-level" aria-label={t('microphone_level')} max={LOUD} value={Math.min(level.value, LOUD)} />
    </>
  );
}
