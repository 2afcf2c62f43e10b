/** What a streamed chat completion asks for. */
export interface ChatShape {
  /** Words of prompt that all requests of a phase share; one word is about one token. */
  sharedWords?: number;
  /** Words of each request's own. */
  ownWords: number;
  maxTokens: number;
  /** Members added to the request body, for example response_format. */
  body?: Readonly<Record<string, unknown>>;
}
