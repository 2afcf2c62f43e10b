/** Texts about settings, in German. */
import type { Translation } from '../../../i18n/catalogue.ts';
import type { settings as english } from '../en/settings.ts';

export const settings: Translation<typeof english> = {
  by_default: 'Vorgabe',
  changed_only: 'Nur geänderte',
  check_value: 'Prüfen',
  copy_line: 'Kopieren: {line}',
  setting_after_restart: 'nach dem Neustart',
  setting_checked:
    'Die Einstellung nimmt diesen Wert. Eine dieser Zeilen in svc.toml (über die erste Tabelle) oder in die Umgebung schreiben und den Server neu starten.',
  setting_forget: 'Gespeichertes vergessen',
  setting_forgotten: '{key} ist hier nicht mehr gespeichert.',
  setting_needs_restart: 'Sie gilt ab dem nächsten Start des Servers.',
  setting_of_command_line: 'Sie steht auf der Kommandozeile, die vor dem Gespeicherten gilt.',
  setting_of_environment: 'Sie steht als {variable} in der Umgebung, die vor dem Gespeicherten gilt.',
  setting_of_machine:
    'Sie gehört dem Betreiber der Maschine. Ein anderer Wert wird hier geprüft und in svc.toml oder {variable} geschrieben.',
  setting_saved: '{key} ist gespeichert und gilt.',
  setting_saved_pending: '{key} ist gespeichert und gilt ab dem nächsten Start.',
  settings_detail: 'Sie kommen aus svc.toml, aus dem hier Gespeicherten und aus der Umgebung; spätere gelten.',
  variable: 'Variable',
};
