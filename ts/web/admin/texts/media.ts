/** Texts about speech and films. */
import type { Texts } from '../../i18n/catalogue.ts';

export const media = {
  media: { en: 'Media', de: 'Medien' },
  media_characters: { en: 'Longest text, in characters', de: 'Längster Text, in Zeichen' },
  media_default: { en: 'default', de: 'Standard' },
  media_detail: {
    en: 'Models that make text of speech, voices that read aloud, and what is under way.',
    de: 'Modelle, die Gesprochenes zu Text machen, Stimmen, die vorlesen, und was gerade läuft.',
  },
  media_engine: { en: 'Engine', de: 'Engine' },
  media_installed: { en: 'installed', de: 'installiert' },
  media_loaded: { en: 'in memory', de: 'im Speicher' },
  media_loading: { en: 'is being loaded', de: 'wird geladen' },
  media_longest: { en: 'Longest recording', de: 'Längste Aufnahme' },
  media_missing: { en: 'missing', de: 'fehlt' },
  media_models: { en: 'Speech models', de: 'Sprachmodelle fürs Hören' },
  media_no_model: {
    en: 'No speech model is installed: `svc models pull whisper-base`.',
    de: 'Kein Modell fürs Hören ist installiert: `svc models pull whisper-base`.',
  },
  media_of: { en: '{n} of {most}', de: '{n} von {most}' },
  media_programs: { en: 'Programs of the system', de: 'Programme des Systems' },
  media_recordings: { en: 'Recordings under way', de: 'Aufnahmen in Arbeit' },
  media_texts: { en: 'Texts being read aloud', de: 'Texte, die vorgelesen werden' },
  media_unconfined: {
    en: 'Programs that read files of strangers are held back less than they should be: {reason}',
    de: 'Programme, die fremde Dateien lesen, sind schwächer eingeschränkt, als sie sein sollten: {reason}',
  },
  media_under_way: { en: 'Under way', de: 'In Arbeit' },
  media_unloaded: { en: 'on disk', de: 'auf der Platte' },
  media_voices: { en: 'Voices', de: 'Stimmen' },
  media_waiting: { en: 'Recordings that wait', de: 'Aufnahmen, die warten' },
} satisfies Texts;
