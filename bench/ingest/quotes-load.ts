/** Chats over a knowledge base whose replies are quotations, which no model writes. */
export interface QuotesLoad {
  kind: 'quotes';
  nPassages: number;
  /** One after the other, as one reader asks. */
  nReplies: number;
}
