/** Texts of the overview, in German. */
import type { Translation } from '../../../i18n/catalogue.ts';
import type { overview as english } from '../en/overview.ts';

export const overview: Translation<typeof english> = {
  auth_off: 'aus',
  auth_on: 'erzwungen',
  authentication: 'Anmeldung',
  cores_busy: 'Kerne belegt',
  cpu: 'CPU',
  first_steps: 'Erste Schritte',
  gpu_memory: 'Speicher der GPUs',
  in_all: 'insgesamt',
  itl: 'Zeit zwischen Token',
  modules_running: 'Module',
  overview: 'Überblick',
  process: 'Prozess',
  read: 'gelesen',
  step_account: 'Die Verwaltung anlegen',
  step_call: 'Die API damit aufrufen',
  step_done: '(erledigt)',
  step_key: 'Einen Schlüssel machen',
  step_model: 'Ein Modell holen',
  tokens_rate: 'Token je Sekunde',
  ttft: 'Zeit bis zum ersten Token',
  used: 'genutzt',
  written: 'geschrieben',
};
