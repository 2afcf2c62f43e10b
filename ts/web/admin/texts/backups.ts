/** Texts about backups. */
import type { Texts } from '../../i18n/catalogue.ts';

export const backups = {
  as_settings: { en: 'Back to the settings', de: 'Zurück zu den Einstellungen' },
  back_up_now: { en: 'Back up now', de: 'Jetzt sichern' },
  backup_being_made: { en: 'A backup is being made', de: 'Eine Sicherung entsteht' },
  backup_being_restored: { en: 'A backup is being restored', de: 'Eine Sicherung wird wiederhergestellt' },
  backup_being_verified: { en: 'A backup is being verified', de: 'Eine Sicherung wird geprüft' },
  backup_destination: { en: 'Where backups go', de: 'Wohin gesichert wird' },
  backup_holds: { en: 'What the backup holds', de: 'Was die Sicherung enthält' },
  backup_plan: { en: 'Folder and schedule', de: 'Ordner und Zeitplan' },
  backup_schedule: { en: 'Schedule', de: 'Zeitplan' },
  backup_verified: {
    en: '{id} was restored into a scratch folder and is whole: {count} files.',
    de: '{id} wurde probeweise wiederhergestellt und ist vollständig: {count} Dateien.',
  },
  backups: { en: 'Backups', de: 'Sicherungen' },
  backups_detail: {
    en: 'Database, settings and stored files in one consistent state, while the node serves. Models are not in it.',
    de: 'Datenbank, Einstellungen und abgelegte Dateien in einem Zustand, während der Knoten arbeitet. Modelle sind nicht dabei.',
  },
  change_folder: { en: 'Change the destination', de: 'Ziel ändern' },
  change_schedule: { en: 'Change the schedule', de: 'Zeitplan ändern' },
  database: { en: 'Database', de: 'Datenbank' },
  database_rows: { en: 'Rows of the database', de: 'Zeilen der Datenbank' },
  encrypted: { en: 'encrypted', de: 'verschlüsselt' },
  encryption: { en: 'Encryption', de: 'Verschlüsselung' },
  folder: { en: 'Folder', de: 'Ordner' },
  folder_hint: {
    en: 'An absolute path on the machine of the node, s3://bucket/prefix?endpoint=https://host, or sftp://user@host/folder',
    de: 'Ein absoluter Pfad auf der Maschine des Knotens, s3://bucket/prefix?endpoint=https://host, oder sftp://user@host/ordner',
  },
  next_at: { en: 'next at {time}', de: 'nächste um {time}' },
  no_backups: { en: 'No backups yet', de: 'Noch keine Sicherungen' },
  no_backups_detail: {
    en: 'Back up now, or let the node do it by a schedule.',
    de: 'Jetzt sichern, oder den Knoten nach Zeitplan sichern lassen.',
  },
  plain_text: { en: 'readable', de: 'lesbar' },
  restore: { en: 'Restore', de: 'Wiederherstellen' },
  restore_detail: {
    en: 'What this node holds now is replaced: everything written since that backup is lost, for every tenant. The node lets open answers finish, ends, and is started again.',
    de: 'Was dieser Knoten jetzt hält, wird ersetzt: Alles, was seit dieser Sicherung geschrieben wurde, geht verloren, für jeden Mandanten. Der Knoten lässt offene Antworten zu Ende gehen, endet und wird neu gestartet.',
  },
  restore_hint: {
    en: 'A backup is restored from the menu of its row, or on the command line while the node is stopped:',
    de: 'Wiederhergestellt wird aus dem Menü ihrer Zeile oder auf der Kommandozeile, während der Knoten steht:',
  },
  restore_question: { en: 'Restore the backup of {time}?', de: 'Die Sicherung vom {time} wiederherstellen?' },
  schedule_every: { en: 'every {hours} hours', de: 'alle {hours} Stunden' },
  schedule_hours: { en: 'Hours between backups', de: 'Stunden zwischen Sicherungen' },
  schedule_hours_hint: { en: '0: none by itself', de: '0: keine von selbst' },
  schedule_keep: { en: 'How many are kept', de: 'Wie viele bleiben' },
  schedule_keep_hint: {
    en: 'Older ones are deleted after each new one; 0 keeps all',
    de: 'Ältere werden nach jeder neuen gelöscht; 0 behält alle',
  },
  schedule_none: { en: 'none: backups are made by hand', de: 'keiner: gesichert wird von Hand' },
  source_saved: { en: 'set here; survives a restart', de: 'hier gesetzt; überdauert einen Neustart' },
  source_settings: { en: 'the settings', de: 'die Einstellungen' },
  stored: { en: 'Stored anew', de: 'Neu abgelegt' },
} satisfies Texts;
