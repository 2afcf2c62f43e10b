/** An answer on its way from the request to the model, and back to the client. */
import type { JobUsage } from '../../../native/llama-shapes.ts';
import type { Principal } from '../../../platform/http/principal.ts';
import type { KnowledgeContext, SearchBounds } from '../../data/index.ts';
import type { AuditSource } from '../../identity/index.ts';
import type { Caller, CallOptions, CompletionRequest, ResolvedModel } from '../../inference/index.ts';
import type { EvidenceBounds } from '../../logs/index.ts';
import type { RecallBounds, RecalledMemories } from '../../memory/index.ts';
import type { Members } from '../compat/members.ts';
import type { OpenConversation } from '../conversations/open-conversation.ts';
import type { RecordingEncoder } from '../conversations/recording-encoder.ts';
import type { AnswerFilters } from '../knowledge/answer-filters.ts';
import type { AnswerLogs } from '../logs/log-stage.ts';
import type { AnswerRoute } from '../routing/routing-stage.ts';
import type { AnswerTools, EdgeToolsCall } from '../tools/answer-tools.ts';
import type { Answer } from './answer-collector.ts';
import type { StreamEncoder } from './frames.ts';

/** The name of a model or knowledge base by which a request leaves the choice to the node. */
export const AUTO = 'auto';

/** The caller of an answer, and how long there is for it. */
export interface Asker {
  readonly caller: Principal;
  readonly options: CallOptions;
  /** The caller whose models may answer; by default `caller`. */
  readonly modelUser?: Caller;
  /** The caller and its place, as the audit log has it; absent: nothing is done in the caller's name. */
  readonly source?: AuditSource;
  /** The request's headers. */
  readonly headers?: ReadonlyMap<string, string>;
  /** Throws HttpError when the caller's credential is refused by now. */
  recheck?(): Promise<void>;
}

/** The conversation of the caller that both sides are stored in. */
export interface ConversationCall {
  readonly id: string;
  /** The text of the last user message. */
  readonly text: string;
  readonly answer: {
    /** The id that the answer's message gets. */
    readonly id?: string;
    /** The message that it follows; the question is not stored again then. */
    readonly parentId?: string;
    /** The text that the stored answer begins with. */
    readonly prefix: string;
  };
  /** The answer goes on without its client, and can be resumed. */
  readonly isResumable: boolean;
}

/** Knowledge bases to be asked; the messages that the passages go into take the place of the prompt's. */
export interface KnowledgeCall {
  readonly namespaces: readonly string[];
  /** One more is chosen. */
  readonly isAuto?: boolean;
  readonly bounds?: SearchBounds;
  readonly messages: readonly Members[];
  readonly fallback?: 'none' | 'model';
}

/** An API's request, in no API's shape but for how its answer is written. */
export interface AnswerCall<W extends StreamWire = Wire> {
  readonly request: CompletionRequest;
  readonly isStreamed: boolean;
  readonly conversation?: ConversationCall | undefined;
  readonly knowledge?: KnowledgeCall | undefined;
  /** Memories to be recalled; undefined: as the caller's account has it; `off`: none, whatever it says. */
  readonly memory?: RecallBounds | 'off' | undefined;
  /** The time and classes of collected log lines that go along with the question. */
  readonly logs?: EvidenceBounds | undefined;
  /** The request leaves the choice of its model or of a knowledge base to the node. */
  readonly auto?: true | undefined;
  /** The node's own tools may run for the answer. */
  readonly edgeTools?: EdgeToolsCall | undefined;
  /** Called once, when the model is known and nothing runs yet. */
  wire(answer: ModelledAnswer): W;
}

/** How one answer is written as events. */
export interface StreamWire {
  encoder(): StreamEncoder;
  /** Runs before the client hears that the answer is whole. When it fails, the client hears that instead. */
  readonly beforeDone?: ((usage: JobUsage) => Promise<void>) | undefined;
}

/** How one answer is written. */
export interface Wire extends StreamWire {
  readonly headers?: Record<string, string>;
  /** Makes the body of an answer that is not streamed; stores it where it is to be stored. */
  body(answer: Answer): object | Promise<object>;
}

/** An answer as the stages know it before there is a model. */
export interface PendingAnswer {
  readonly asker: Asker;
  /** A knowledge base that is chosen for it comes to it. */
  call: Omit<AnswerCall<StreamWire>, 'wire'>;
  /** The request as the model will get it. */
  request: CompletionRequest;
  conversation?: OpenConversation;
  knowledge?: KnowledgeContext;
  /** The routes that were chosen for it; undefined: the request names all itself. */
  routes?: { readonly knowledge?: AnswerRoute; readonly model?: AnswerRoute };
  /** Memories that were recalled for the question; undefined: nothing was to be. */
  memories?: RecalledMemories;
  /** Collected log lines, which the answer cites. */
  logs?: AnswerLogs;
  /** The messages that what was found goes into. */
  asked?: readonly Members[];
  /** The node's own tools that may run. */
  tools?: AnswerTools;
  /** The filters of the knowledge, through which the answer passes. */
  filters?: AnswerFilters;
  /** The encoder that keeps what is stored of a streamed answer. */
  recording?: RecordingEncoder;
}

/** The same with the model that will answer. */
export interface ModelledAnswer extends PendingAnswer {
  readonly model: ResolvedModel;
}

/** Ready to be run. */
export interface OpenAnswer<W extends StreamWire = Wire> extends ModelledAnswer {
  readonly wire: W;
}

export interface RunOptions {
  /** Ends the work; default: the asker's. */
  readonly signal?: AbortSignal;
  readonly headers?: Record<string, string>;
  /** The client went away before the end. */
  readonly onLeave?: () => void;
}

/** One thing that can be done with an answer on its way. Stages are asked in the order of their list, if they are concerned. */
export interface Stage {
  /** The members of a call of which it needs one to be concerned; undefined: it looks for itself. */
  readonly members?: readonly (keyof PendingAnswer['call'])[];
  /** Runs before the model is chosen. It may change the request. Throws DomainErrors that the routes declare. */
  prepare(answer: PendingAnswer): Promise<void> | void;
  /** Fits the request to the model, when that is chosen and nothing runs yet. */
  fit?(answer: ModelledAnswer): Promise<void>;
  /** Wraps the encoder of a streamed answer: events go through the result before they come to `inner`, which the stages before have made. */
  wrap(inner: StreamEncoder, answer: ModelledAnswer): StreamEncoder;
  /** Completes an answer that is not streamed. The stages are asked in reverse order. */
  finish(whole: Answer, answer: ModelledAnswer): Answer | Promise<Answer>;
}
