/** A conversation that everybody of the tenant may read under a link: its branch as it was when it was shared. */
import type { Message } from '../conversation.ts';

export interface Share {
  readonly id: string;
  readonly conversationId: string;
  /** The last message that readers see. */
  readonly leafId: string;
  readonly createdAt: number;
}

/** What readers see of it, a page of messages at a time. */
export interface SharedPage {
  readonly title: string;
  readonly model: string | undefined;
  readonly createdAt: number;
  readonly messages: readonly Message[];
  /** Of the last message that was looked at, when there are more. */
  readonly nextSeq: number | undefined;
}
