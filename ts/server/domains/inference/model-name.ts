/** Finds the model that a client means by a name. */
import type { ModelCard } from './backend.ts';

/** Exact id first; then without regard to case and Ollama's `:latest`; then an id that adds a quantisation to the name. */
export function findModel(cards: readonly ModelCard[], name: string): ModelCard | undefined {
  const plain = plainName(name);
  return (
    cards.find((card) => card.id === name) ??
    cards.find((card) => plainName(card.id) === plain) ??
    cards.find((card) => plainName(card.id).startsWith(`${plain}-`) && isQuantisation(plainName(card.id).slice(plain.length + 1)))
  );
}

/** Whether a name that no model has belongs to a family: Qwen/Qwen2.5-7B-Instruct is of qwen. */
export function isOfFamily(name: string, family: string): boolean {
  const plain = plainName(name.slice(name.lastIndexOf('/') + 1));
  return family !== '' && plain.startsWith(family.toLowerCase());
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/:latest$/, '');
}

function isQuantisation(text: string): boolean {
  return /^(?:ud-)?(?:i?q\d[\w]*|f16|f32|bf16|mxfp4[\w]*)$/.test(text);
}
