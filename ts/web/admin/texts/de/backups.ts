/** Texts about backups, in German. */
import type { Translation } from '../../../i18n/catalogue.ts';
import type { backups as english } from '../en/backups.ts';

export const backups: Translation<typeof english> = {
  as_settings: 'Zurück zu den Einstellungen',
  back_up_now: 'Jetzt sichern',
  backup_being_made: 'Eine Sicherung entsteht',
  backup_being_restored: 'Eine Sicherung wird wiederhergestellt',
  backup_being_verified: 'Eine Sicherung wird geprüft',
  backup_destination: 'Wohin gesichert wird',
  backup_holds: 'Was die Sicherung enthält',
  backup_plan: 'Ordner und Zeitplan',
  backup_schedule: 'Zeitplan',
  backup_verified: '{id} wurde probeweise wiederhergestellt und ist vollständig: {count} Dateien.',
  backups: 'Sicherungen',
  backups_detail:
    'Datenbank, Einstellungen und abgelegte Dateien in einem Zustand, während der Knoten arbeitet. Modelle sind nicht dabei.',
  change_folder: 'Ziel ändern',
  change_schedule: 'Zeitplan ändern',
  database: 'Datenbank',
  database_rows: 'Zeilen der Datenbank',
  encrypted: 'verschlüsselt',
  encryption: 'Verschlüsselung',
  folder: 'Ordner',
  folder_hint:
    'Ein absoluter Pfad auf der Maschine des Knotens, s3://bucket/prefix?endpoint=https://host, oder sftp://user@host/ordner',
  next_at: 'nächste um {time}',
  no_backups: 'Noch keine Sicherungen',
  no_backups_detail: 'Jetzt sichern, oder den Knoten nach Zeitplan sichern lassen.',
  plain_text: 'lesbar',
  restore: 'Wiederherstellen',
  restore_detail:
    'Was dieser Knoten jetzt hält, wird ersetzt: Alles, was seit dieser Sicherung geschrieben wurde, geht verloren, für jeden Mandanten. Der Knoten lässt offene Antworten zu Ende gehen, endet und wird neu gestartet.',
  restore_hint: 'Wiederhergestellt wird aus dem Menü ihrer Zeile oder auf der Kommandozeile, während der Knoten steht:',
  restore_question: 'Die Sicherung vom {time} wiederherstellen?',
  schedule_every: 'alle {hours} Stunden',
  schedule_hours: 'Stunden zwischen Sicherungen',
  schedule_hours_hint: '0: keine von selbst',
  schedule_keep: 'Wie viele bleiben',
  schedule_keep_hint: 'Ältere werden nach jeder neuen gelöscht; 0 behält alle',
  schedule_none: 'keiner: gesichert wird von Hand',
  source_saved: 'hier gesetzt; überdauert einen Neustart',
  source_settings: 'die Einstellungen',
  stored: 'Neu abgelegt',
};
