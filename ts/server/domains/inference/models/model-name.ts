/** Finds the model that a client means by a name. */
/** Exact id first; then without regard to case and Ollama's `:latest`; then an id that adds a quantisation to the name. */
export function findModel<T extends { card: { id: string } }>(offers: readonly T[], name: string): T | undefined {
  const plain = plainName(name);
  const addsQuantisation = (id: string) => id.startsWith(`${plain}-`) && isQuantisation(id.slice(plain.length + 1));
  return (
    offers.find(({ card }) => card.id === name) ??
    offers.find(({ card }) => plainName(card.id) === plain) ??
    offers.find(({ card }) => addsQuantisation(plainName(card.id)))
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
