/** Texts about settings. */
import type { Texts } from '../../i18n/catalogue.ts';

export const settings = {
  by_default: { en: 'default', de: 'Vorgabe' },
  changed_only: { en: 'Only changed ones', de: 'Nur geänderte' },
  check_value: { en: 'Check', de: 'Prüfen' },
  copy_line: { en: 'Copy {line}', de: 'Kopieren: {line}' },
  setting_after_restart: { en: 'after a restart', de: 'nach dem Neustart' },
  setting_checked: {
    en: 'The setting takes this value. Write one of these lines into svc.toml (above its first table) or into the environment, and restart the server.',
    de: 'Die Einstellung nimmt diesen Wert. Eine dieser Zeilen in svc.toml (über die erste Tabelle) oder in die Umgebung schreiben und den Server neu starten.',
  },
  setting_forget: { en: 'Forget what is saved', de: 'Gespeichertes vergessen' },
  setting_forgotten: { en: '{key} is no longer saved here.', de: '{key} ist hier nicht mehr gespeichert.' },
  setting_needs_restart: {
    en: 'It takes effect at the next start of the server.',
    de: 'Sie gilt ab dem nächsten Start des Servers.',
  },
  setting_of_command_line: {
    en: 'It is set on the command line, which wins over what is saved here.',
    de: 'Sie steht auf der Kommandozeile, die vor dem Gespeicherten gilt.',
  },
  setting_of_environment: {
    en: 'It is set by {variable} in the environment, which wins over what is saved here.',
    de: 'Sie steht als {variable} in der Umgebung, die vor dem Gespeicherten gilt.',
  },
  setting_of_machine: {
    en: 'It belongs to the operator of the machine. Another value is checked here, and written into svc.toml or {variable}.',
    de: 'Sie gehört dem Betreiber der Maschine. Ein anderer Wert wird hier geprüft und in svc.toml oder {variable} geschrieben.',
  },
  setting_saved: { en: '{key} is saved and in effect.', de: '{key} ist gespeichert und gilt.' },
  setting_saved_pending: {
    en: '{key} is saved and takes effect at the next start.',
    de: '{key} ist gespeichert und gilt ab dem nächsten Start.',
  },
  settings_detail: {
    en: 'They come from svc.toml, from what is saved here, and from the environment; later ones win.',
    de: 'Sie kommen aus svc.toml, aus dem hier Gespeicherten und aus der Umgebung; spätere gelten.',
  },
  variable: { en: 'Variable', de: 'Variable' },
} satisfies Texts;
