/** Texts of the overview. */
import type { Texts } from '../../i18n/catalogue.ts';

export const overview = {
  auth_off: { en: 'off', de: 'aus' },
  auth_on: { en: 'enforced', de: 'erzwungen' },
  authentication: { en: 'Sign-in', de: 'Anmeldung' },
  cores_busy: { en: 'cores busy', de: 'Kerne belegt' },
  cpu: { en: 'CPU', de: 'CPU' },
  first_steps: { en: 'First steps', de: 'Erste Schritte' },
  gpu_memory: { en: 'GPU memory', de: 'Speicher der GPUs' },
  in_all: { en: 'in all', de: 'insgesamt' },
  itl: { en: 'Time between tokens', de: 'Zeit zwischen Token' },
  modules_running: { en: 'Modules', de: 'Module' },
  overview: { en: 'Overview', de: 'Überblick' },
  process: { en: 'process', de: 'Prozess' },
  read: { en: 'read', de: 'gelesen' },
  step_account: { en: 'Create the administrator', de: 'Die Verwaltung anlegen' },
  step_call: { en: 'Call the API with it', de: 'Die API damit aufrufen' },
  step_done: { en: '(done)', de: '(erledigt)' },
  step_key: { en: 'Make a key', de: 'Einen Schlüssel machen' },
  step_model: { en: 'Get a model', de: 'Ein Modell holen' },
  tokens_rate: { en: 'Tokens per second', de: 'Token je Sekunde' },
  ttft: { en: 'Time to first token', de: 'Zeit bis zum ersten Token' },
  used: { en: 'used', de: 'genutzt' },
  written: { en: 'written', de: 'geschrieben' },
} satisfies Texts;
