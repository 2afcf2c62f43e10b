/** Texts of the sign-in page, in German. */
import type { Translation } from '../catalogue.ts';
import type { login as english } from '../en/login.ts';

export const login: Translation<typeof english> = {
  account: 'Konto',
  create_account: 'Konto anlegen',
  email_optional: 'E-Mail (freiwillig)',
  first_account: 'Hier hat noch niemand ein Konto. Das erste wird Superadmin und schaltet die Anmeldung für alle ein.',
  invited: 'Du wurdest eingeladen: leg hier dein Konto an.',
  new_password: 'Neues Passwort',
  password_rule: 'Mindestens 8 Zeichen und nicht leicht zu raten',
  password_was_set: 'Das neue Passwort gilt. Melde dich damit an.',
  provider_failed: 'Der Anmeldedienst hat dich nicht eingelassen ({code}). Versuch es noch einmal oder frag die Verwaltung.',
  reset_mail_sent: 'Wenn es ein solches Konto mit Adresse gibt, ist eine Nachricht mit einem Token unterwegs.',
  reset_password: 'Passwort zurücksetzen',
  reset_token: 'Rücksetz-Token',
  reset_token_hint: 'Die Verwaltung stellt es aus; es gilt einmal, eine Stunde lang.',
  reset_token_mail_hint: 'Es steht in der Nachricht, oder ein Administrator gibt es aus; es gilt einmal, eine Stunde lang.',
  send_reset_mail: 'Token zum Zurücksetzen senden',
  set_password: 'Passwort setzen',
  setup_code: 'Einrichtungscode',
  setup_code_hint: 'Er steht im Log des Servers, sobald der Server startet.',
  setup_code_needed: 'Das erste Konto wird auf der Maschine selbst angelegt oder mit dem Einrichtungscode.',
  sign_in_with: 'Anmelden mit {label}',
  tenant: 'Mandant',
  username: 'Name',
  username_or_email: 'Name oder E-Mail',
  wrong_password: 'Name oder Passwort stimmt nicht.',
};
