/** Texts of the playground, in English. */
export const playground = {
  alternatives: 'Alternatives',
  no_tokens: 'The model wrote nothing.',
  playground: 'Playground',
  playground_detail: 'Ask a model and see how likely each token was.',
  probability: 'Probability',
  prompt: 'Prompt',
  run: 'Run',
  token: 'Token',
  token_certain: '90 % and more',
  token_likely: '50 to 90 %',
  token_open: '10 to 50 %',
  token_surprising: 'under 10 %',
  tokens_of_answer: 'Tokens of the answer',
} as const;
