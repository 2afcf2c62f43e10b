/** POST /v1/chat/completions. */

import Type from 'typebox';
import type { Principal } from '../../../../platform/http/principal.ts';
import { json, type Reply, type RequestContext, type Route, route } from '../../../../platform/http/route.ts';
import type { ConversationFilesPlace, KnowledgeContext } from '../../../data/index.ts';
import {
  type ChatPrompt,
  type CompletionRequest,
  completionErrors,
  type InferenceService,
  openaiErrorBody,
} from '../../../inference/index.ts';
import type { Answer } from '../../answer/answer-collector.ts';
import type { StreamEncoder } from '../../answer/stream-encoder.ts';
import { answerFacts } from '../../conversations/answer-facts.ts';
import type { ChatStorage } from '../../conversations/chat-storage.ts';
import type { OpenConversation } from '../../conversations/open-conversation.ts';
import { RecordingEncoder } from '../../conversations/recording-encoder.ts';
import { conversationErrors, knowledgeErrors } from '../../declared-errors.ts';
import { AnswerFilters } from '../../knowledge/answer-filters.ts';
import { FilteringEncoder } from '../../knowledge/filtering-encoder.ts';
import { userTurns, withKnowledge } from '../../knowledge/knowledge-messages.ts';
import type { KnowledgeModule } from '../../knowledge/knowledge-module.ts';
import type { StreamRegistry } from '../../resumable-streams/stream-registry.ts';
import { answerHeaders, callOptions, gatherAnswer, streamAnswer } from '../call.ts';
import { identifier, unixSeconds } from '../identifier.ts';
import { maxBodyBytes } from '../limits.ts';
import type { Members } from '../members.ts';
import { readsBody } from '../reads-body.ts';
import { ChunkEncoder, type ChunkHead } from './chunk-encoder.ts';
import { unindexedMember, wireCitations } from './citations.ts';
import { CitingEncoder } from './citing-encoder.ts';
import { chatCompletion, type KnowledgeMembers } from './completion.ts';
import { promptMessages } from './prompt-messages.ts';
import type { ChatCall, ConversationCall, KnowledgeCall } from './request.ts';
import { ChatChunk, ChatCompletion } from './response-schema.ts';
import { streamResumable, streamStored } from './stored-answer.ts';

export interface ChatRouteDeps {
  readonly service: InferenceService;
  readonly knowledge: KnowledgeModule;
  readonly conversations: ChatStorage;
  readonly streams: StreamRegistry;
}

export function chatRoute(deps: ChatRouteDeps, fingerprint: string): Route {
  return route({
    method: 'POST',
    path: '/v1/chat/completions',
    auth: 'viewer',
    scope: 'chat:use',
    maxBody: maxBodyBytes,
    tag: 'Chat',
    summary: 'Complete a chat',
    description:
      'An unknown model is answered by another one: compare `model`, and see the header X-Svc-Model-Substituted. With `stream`, a failure ' +
      'before the first token is a plain error with its status; a later one is a frame with `error` and `detail`, and the stream ends. ' +
      'The header X-Request-Timeout limits the time in seconds. Without X-Svc-Edge-Tools: 1, tools are the client’s own. With `knowledge`, ' +
      'passages of these knowledge bases go to the model; `citations` has those that the answer cites by [1], [2] and that hold what its sentence ' +
      'says; marks of others are left out of the text. Where passages were found and the answer cites none of them, it ends with one to three ' +
      'sentences that answer the question, quoted with their citations; where `data.answers` leaves the answer to the documents, these are all of it, and no ' +
      'model is run. Where only something near was found, they have the names of documents in place of citations. Where nothing was found, the answer is a ' +
      'sentence that says so, in the language of the question, and the model goes on behind it with `knowledge_fallback: "model"`. None of this for JSON and ' +
      'what follows a grammar, with `tools`, and where `max_tokens` or `stop` ended the answer. In a stream, `citations` come with `finish_reason`. `unindexed` names files that are kept there and ' +
      'cannot be found, as scans. With `conversation_id`, files of that conversation are looked up too (where they say ' +
      'nothing of it, the model answers), and the last user message and the answer (of `n`, the first) are on ' +
      'disk in that conversation before the client hears that the answer is whole. When the client of a stream goes away, or the answer fails, the ' +
      'part that was generated is stored with `metadata: {"incomplete": "client_closed"}` or `"failure"`, and without such a part nothing is. ' +
      'With `resumable` as well, the answer goes on when its client is gone, for `inference.stream_detached_seconds`: each event of the stream has ' +
      'an `id`, the header X-Svc-Stream names the stream, and GET /api/v1/edge/conversations/streams/{id} with Last-Event-ID goes on behind that ' +
      'event. Only DELETE of that path ends the answer then. Without that header in the answer there was no memory for it, and the answer ends with its client.',
    ...readsBody('chat'),
    responses: { 200: ChatCompletion },
    stream: Type.Union([ChatChunk, Type.Object({ error: Type.Object({}), detail: Type.String() })]),
    errors: [...completionErrors, ...knowledgeErrors, ...conversationErrors],
    errorBody: openaiErrorBody,
    handle: (context) => completeChat(deps, fingerprint, context),
  });
}

type ChatContext = RequestContext<unknown, unknown, ChatCall>;

/** What the answer may stand on, and the messages that it goes into. */
interface Consulted {
  readonly messages: readonly Members[];
  readonly knowledge: KnowledgeContext;
}

async function completeChat(deps: ChatRouteDeps, fingerprint: string, context: ChatContext): Promise<Reply> {
  const { service, streams } = deps;
  const options = callOptions(context);
  const { stream, includeUsage, conversation: call } = context.body;
  const conversation = call && (await openConversation(deps, context, call));
  const consulted = await consult(deps.knowledge, context, conversation);
  const { knowledge } = consulted ?? {};
  const request = consulted ? withPassages(context.body.request, consulted) : context.body.request;
  const model = await service.resolve({ ability: 'chat', ...request }, context.caller);
  const headers = answerHeaders(request.model, model, context.headers);
  const head: ChunkHead = { id: identifier('chatcmpl-'), created: unixSeconds(), model: model.card.id, fingerprint };
  if (stream) {
    const chunks = new ChunkEncoder(head, request.job.n ?? 1, includeUsage);
    const filters = knowledge && new AnswerFilters(knowledge);
    const cited = filters && knowledge ? citing(chunks, filters, knowledge) : chunks;
    // What is stored is what the client reads.
    const filtered = (encoder: StreamEncoder) => (filters ? new FilteringEncoder(encoder, filters) : encoder);
    if (conversation === undefined || call === undefined)
      return streamAnswer(service, model, request, filtered(cited), options, headers);
    const citations = () => filters && wireCitations(filters.citedBy(0)).citations;
    const stored = {
      conversation,
      model: model.card.id,
      prefix: call.answer.prefix,
      citations,
      unindexed: unindexedOf(knowledge),
    };
    const recording = new RecordingEncoder(cited, stored);
    const answer = { service, model, request, recording, encoder: filtered(recording), options, headers };
    return call.isResumable ? streamResumable(streams, answer, conversation, call, context) : streamStored(answer);
  }
  const gathered = await gatherAnswer(service, model, request, options);
  const { answer, members } = knowledge ? checked(gathered, knowledge) : { answer: gathered, members: undefined };
  const first = answer.choices[0];
  await conversation?.store({
    content: (call?.answer.prefix ?? '') + (first?.content ?? ''),
    model: model.card.id,
    cutBy: undefined,
    facts: answerFacts({
      ...{ reasoning: '', toolCalls: [], ...first },
      ...{ finish: first?.finish, usage: answer.usage, unindexed: unindexedOf(knowledge) },
    }),
    citations: members?.cited[0]?.citations,
  });
  return json(200, chatCompletion(head, answer, members), headers);
}

function openConversation(
  { conversations }: ChatRouteDeps,
  { caller }: ChatContext,
  { id, text, answer }: ConversationCall,
): Promise<OpenConversation> {
  return conversations.open(caller, { id, text, answerId: answer.id, parentId: answer.parentId });
}

function unindexedOf(knowledge: KnowledgeContext | undefined): object | undefined {
  return knowledge && unindexedMember(knowledge.unindexed).unindexed;
}

function citing(chunks: ChunkEncoder, filters: AnswerFilters, knowledge: KnowledgeContext): StreamEncoder {
  return new CitingEncoder(chunks, (choice) => wireCitations(filters.citedBy(choice)), unindexedMember(knowledge.unindexed));
}

function checked(answer: Answer, knowledge: KnowledgeContext): { answer: Answer; members: KnowledgeMembers } {
  const filters = new AnswerFilters(knowledge);
  const choices = answer.choices.map((choice, i) => ({ ...choice, content: filters.wholeText(i, choice) }));
  const cited = choices.map((_, i) => wireCitations(filters.citedBy(i)));
  return { answer: { ...answer, choices }, members: { cited, members: unindexedMember(knowledge.unindexed) } };
}

/** Undefined: the request names no knowledge base, and its conversation has no files. */
async function consult(
  knowledge: KnowledgeModule,
  { body, caller, signal }: ChatContext,
  conversation: OpenConversation | undefined,
): Promise<Consulted | undefined> {
  const files = await filesOf(knowledge, caller, body, conversation);
  const { prompt, jsonSchema, grammar } = body.request.job;
  if (prompt.kind !== 'chat' || (body.knowledge === undefined && files === undefined)) return undefined;
  const { namespaces, messages, fallback } = body.knowledge ?? filesAlone(prompt);
  const isContinued = (body.conversation?.answer.prefix ?? '') !== '';
  const keepsForm = jsonSchema !== undefined || grammar !== undefined || isContinued;
  const question = { namespaces, files, turns: userTurns(messages), keepsForm, offersTools: body.request.needsTools, fallback };
  return { messages, knowledge: await knowledge.api.answers.consult(caller, question, signal) };
}

/** A conversation with files is a conversation: what they say nothing of, the model answers. */
function filesAlone({ messagesJson }: ChatPrompt): KnowledgeCall {
  return { namespaces: [], messages: promptMessages(messagesJson), fallback: 'model' };
}

/** Undefined: the conversation has none, or none any more. */
async function filesOf(
  knowledge: KnowledgeModule,
  caller: Principal,
  { conversation: call }: ChatCall,
  conversation: OpenConversation | undefined,
): Promise<ConversationFilesPlace | undefined> {
  const key = conversation?.filesKey;
  if (key === undefined || call === undefined) return undefined;
  const place = { conversationId: call.id, key };
  return (await knowledge.api.answers.holdsFiles(caller, place)) ? place : undefined;
}

function withPassages(request: CompletionRequest, { messages, knowledge }: Consulted): CompletionRequest {
  const { job } = request;
  if (job.prompt.kind !== 'chat') return request;
  const messagesJson = JSON.stringify(withKnowledge(messages, knowledge));
  return { ...request, isSilenced: (card) => knowledge.silences(card), job: { ...job, prompt: { ...job.prompt, messagesJson } } };
}
