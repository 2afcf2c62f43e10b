/** A failure as a sentence for the reader. What the server said is shown as it is; it is written for people. */
import { Refusal } from '../../client/refusal.ts';
import { t } from '../i18n/language.ts';

export function explain(error: unknown): string {
  if (!(error instanceof Refusal)) return error instanceof Error ? error.message : String(error);
  if (error.code === 'unreachable') return t('unreachable');
  if (error.code === 'too_many_attempts') return t('too_many_attempts');
  if (error.status === 401 && error.code === 'authentication_required') return t('sign_in_needed');
  return error.message === '' ? t('refused', { code: error.code }) : error.message;
}
