/** Asks before something that cannot be undone. */
import { signal } from '@preact/signals';
import { t } from '../i18n/language.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

interface Question {
  title: string;
  detail: string;
  action: string;
  isDangerous: boolean;
  answer(isYes: boolean): void;
}

const question = signal<Question | undefined>(undefined);

export function confirmed(title: string, detail: string, action: string, isDangerous = true): Promise<boolean> {
  return new Promise((resolve) => {
    const answer = (isYes: boolean): void => {
      question.value = undefined;
      resolve(isYes);
    };
    question.value = { title, detail, action, isDangerous, answer };
  });
}

/** A page has it once. */
export function ConfirmDialog() {
  const current = question.value;
  if (current === undefined) return null;
  return (
    <Dialog title={current.title} onClose={() => current.answer(false)}>
      <p class="breakable">{current.detail}</p>
      <div class="buttons">
        <Button look="plain" data-first onClick={() => current.answer(false)}>
          {t('cancel')}
        </Button>
        <Button look={current.isDangerous ? 'danger' : 'main'} onClick={() => current.answer(true)}>
          {current.action}
        </Button>
      </div>
    </Dialog>
  );
}
