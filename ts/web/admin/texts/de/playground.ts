/** Texts of the playground, in German. */
import type { Translation } from '../../../i18n/catalogue.ts';
import type { playground as english } from '../en/playground.ts';

export const playground: Translation<typeof english> = {
  alternatives: 'Alternativen',
  no_tokens: 'Das Modell hat nichts geschrieben.',
  playground: 'Spielwiese',
  playground_detail: 'Ein Modell fragen und sehen, wie wahrscheinlich jedes Token war.',
  probability: 'Wahrscheinlichkeit',
  prompt: 'Eingabe',
  run: 'Ausführen',
  token: 'Token',
  token_certain: '90 % und mehr',
  token_likely: '50 bis 90 %',
  token_open: '10 bis 50 %',
  token_surprising: 'unter 10 %',
  tokens_of_answer: 'Token der Antwort',
};
