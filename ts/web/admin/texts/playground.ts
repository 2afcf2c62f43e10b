/** Texts of the playground. */
import type { Texts } from '../../i18n/catalogue.ts';

export const playground = {
  alternatives: { en: 'Alternatives', de: 'Alternativen' },
  no_tokens: { en: 'The model wrote nothing.', de: 'Das Modell hat nichts geschrieben.' },
  playground: { en: 'Playground', de: 'Spielwiese' },
  playground_detail: {
    en: 'Ask a model and see how likely each token was.',
    de: 'Ein Modell fragen und sehen, wie wahrscheinlich jedes Token war.',
  },
  probability: { en: 'Probability', de: 'Wahrscheinlichkeit' },
  prompt: { en: 'Prompt', de: 'Eingabe' },
  run: { en: 'Run', de: 'Ausführen' },
  token: { en: 'Token', de: 'Token' },
  token_certain: { en: '90 % and more', de: '90 % und mehr' },
  token_likely: { en: '50 to 90 %', de: '50 bis 90 %' },
  token_open: { en: '10 to 50 %', de: '10 bis 50 %' },
  token_surprising: { en: 'under 10 %', de: 'unter 10 %' },
  tokens_of_answer: { en: 'Tokens of the answer', de: 'Token der Antwort' },
} satisfies Texts;
