/** Which of some models is asked until the reader chooses: the server's default where it is among them, else the first. */
export function firstAsked<T extends { default?: boolean | undefined }>(models: readonly T[]): T | undefined {
  return models.find((model) => model.default === true) ?? models[0];
}
