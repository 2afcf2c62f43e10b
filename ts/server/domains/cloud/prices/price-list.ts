/**
 * The money that providers ask for a million tokens, by a model's name without its date. They are as the providers' pages said on the date that each entry
 * names: operators overrule them where theirs are others.
 */
import type { Price } from './price.ts';

const OPENAI = { currency: 'USD', source: 'https://platform.openai.com/docs/pricing', date: '2025-10-01' };
const ANTHROPIC = { currency: 'USD', source: 'https://docs.anthropic.com/en/docs/about-claude/pricing', date: '2025-10-01' };
const GEMINI = { currency: 'USD', source: 'https://ai.google.dev/gemini-api/docs/pricing', date: '2025-10-01' };

const claude = (input: string, output: string, read: string, write5m: string, write1h: string): Price => ({
  input,
  output,
  cache_read: read,
  cache_write_5m: write5m,
  cache_write_1h: write1h,
  ...ANTHROPIC,
});

export const PRICE_LIST: Readonly<Record<string, Price>> = {
  'gpt-5': { input: '1.25', output: '10', cache_read: '0.125', ...OPENAI },
  'gpt-5-mini': { input: '0.25', output: '2', cache_read: '0.025', ...OPENAI },
  'gpt-5-nano': { input: '0.05', output: '0.4', cache_read: '0.005', ...OPENAI },
  'gpt-4.1': { input: '2', output: '8', cache_read: '0.5', ...OPENAI },
  'gpt-4.1-mini': { input: '0.4', output: '1.6', cache_read: '0.1', ...OPENAI },
  'gpt-4.1-nano': { input: '0.1', output: '0.4', cache_read: '0.025', ...OPENAI },
  'gpt-4o': { input: '2.5', output: '10', cache_read: '1.25', ...OPENAI },
  'gpt-4o-mini': { input: '0.15', output: '0.6', cache_read: '0.075', ...OPENAI },
  'o4-mini': { input: '1.1', output: '4.4', cache_read: '0.275', ...OPENAI },
  'text-embedding-3-small': { input: '0.02', ...OPENAI },
  'text-embedding-3-large': { input: '0.13', ...OPENAI },
  'claude-opus-4-1': claude('15', '75', '1.5', '18.75', '30'),
  'claude-sonnet-4': claude('3', '15', '0.3', '3.75', '6'),
  'claude-sonnet-4-5': claude('3', '15', '0.3', '3.75', '6'),
  'claude-haiku-4-5': claude('1', '5', '0.1', '1.25', '2'),
  'claude-3-5-haiku': claude('0.8', '4', '0.08', '1', '1.6'),
  'gemini-2.5-flash': { input: '0.3', output: '2.5', cache_read: '0.03', ...GEMINI },
  'gemini-2.5-flash-lite': { input: '0.1', output: '0.4', cache_read: '0.01', ...GEMINI },
};
