/** Texts about dictation, reading aloud and recordings, in German. */
import type { Translation } from '../catalogue.ts';
import type { speech as english } from '../en/speech.ts';

export const speech: Translation<typeof english> = {
  cannot_play: 'Der Browser kann das nicht abspielen.',
  captions: 'Untertitel',
  dictate: 'Diktieren',
  dictation_needs_https:
    'Browser geben das Mikrofon nur Seiten über https. Bitte einen Administrator, diese Seite dort anzubieten.',
  go_on_reading: 'Weiterlesen',
  microphone_denied: 'Diese Seite darf das Mikrofon nicht verwenden. Erlaube es im Browser und versuche es noch einmal.',
  microphone_level: 'Pegel des Mikrofons',
  no_microphone: 'Es wurde kein Mikrofon gefunden.',
  no_voices: 'Dieser Knoten hat keine Stimme. Ein Administrator kann eine installieren.',
  nothing_to_read: 'Hier gibt es nichts vorzulesen.',
  pause_reading: 'Pause',
  read_aloud: 'Vorlesen',
  reading_aloud: 'Vorlesen',
  reading_piece: 'Vorgelesen wird {n} von {count}',
  reading_speed: 'Tempo: {speed}',
  recording: 'Aufnahme: {source}',
  skip_sentence: 'Überspringen',
  speed_times: '{speed}×',
  stop_dictation: 'Diktat beenden',
  stop_reading: 'Vorlesen beenden',
};
