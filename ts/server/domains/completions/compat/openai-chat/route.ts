/** POST /v1/chat/completions. */
import Type, { type Static } from 'typebox';
import type { Route } from '../../../../platform/http/route.ts';
import { routes } from '../../../../platform/http/route-group.ts';
import { SchemaCheck } from '../../../../platform/schema/schema-check.ts';
import { completionErrors, openaiErrorBody } from '../../../inference/index.ts';
import type { Answer } from '../../answer/answer-collector.ts';
import type { AnswerCall, Asker, ModelledAnswer, Wire } from '../../answer/pending-answer.ts';
import { conversationErrors, knowledgeErrors, logChatErrors, memoryChatErrors, toolErrors } from '../../declared-errors.ts';
import { invalid } from '../../errors.ts';
import type { CompletionsApi } from '../../index.ts';
import { unindexedMember, wireCitations } from '../../knowledge/citations.ts';
import { memoryMembers } from '../../memory/memory-stage.ts';
import { routeMember } from '../../routing/routing-stage.ts';
import { askerOf, type CompletionService, wantsEdgeTools } from '../../service.ts';
import { openaiHeaders } from '../foreign-members.ts';
import { identifier, unixSeconds } from '../members.ts';
import { maxBodyBytes, readBody } from '../read-body.ts';
import { ChunkEncoder, type ChunkHead } from './chunk-encoder.ts';
import { chatCompletion } from './completion.ts';
import { type ChatCall, chatReader } from './request.ts';
import { ChatChunk, ChatCompletion } from './response-schema.ts';

const { post } = routes({ tag: 'Chat', auth: 'viewer', scope: 'chat:use', errorBody: openaiErrorBody });

export function chatRoute(completions: CompletionService, fingerprint: string): Route {
  return post('/v1/chat/completions', {
    maxBody: maxBodyBytes,
    summary: 'Complete a chat',
    description:
      'An unknown model is answered by another one: compare `model`, and see the header X-Svc-Model-Substituted. With `stream`, a failure ' +
      'before the first token is a plain error with its status; a later one is a frame with `error` and `detail`, and the stream ends. ' +
      'The header X-Request-Timeout limits the time in seconds. Without X-Svc-Edge-Tools: 1, tools are the client’s own. With it, the model may call tools ' +
      'of the node (`edge_tools` narrows them), which run with the rights of the caller: a stream tells of each in chunks with `tool_event`, a whole answer in ' +
      '`tool_events`, and `usage` is the sum of all rounds. A call that waits for approval is `awaiting_approval`, until POST /api/v1/security/approvals/{id}. ' +
      'A call of one of the client’s own tools ends the answer as usual. With `knowledge`, ' +
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
      'With `memory`, what the caller asked to be remembered and is about the last question goes to the model, and `memories` has it (in a stream, with ' +
      '`finish_reason`); where it could not be looked up in time, `memories` is empty and `memory_note` says so. ' +
      'With `knowledge: ["auto"]`, a knowledge base is chosen by what was asked in the conversation, and `knowledge_route` says which (in a stream, with ' +
      '`finish_reason`); with `model: "auto"`, a model of this node is. ' +
      'With `logs`, collected log lines of that time go to an administrator’s model as data, and `logs.cited` has those that the answer cites by [L1] (in a ' +
      'stream, with `finish_reason`). ' +
      'With `resumable` as well, the answer goes on when its client is gone, for `inference.stream_detached_seconds`: each event of the stream has ' +
      'an `id`, the header X-Svc-Stream names the stream, and GET /api/v1/edge/conversations/streams/{id} with Last-Event-ID goes on behind that ' +
      'event. Only DELETE of that path ends the answer then. Without that header in the answer there was no memory for it, and the answer ends with its client.',
    ...readBody(chatReader),
    requestHeaders: openaiHeaders,
    responses: { 200: ChatCompletion },
    stream: Type.Union([ChatChunk, Type.Object({ error: Type.Object({}), detail: Type.String() })]),
    errors: [
      ...completionErrors,
      ...knowledgeErrors,
      ...conversationErrors,
      ...toolErrors,
      ...memoryChatErrors,
      ...logChatErrors,
    ],
    handle: (context) => {
      const asker = askerOf(context);
      return completions.answer(asker, chatCall(context.body, asker, fingerprint));
    },
  });
}

/** For modules that ask a model in a caller's name: the answer to a body of this route, with the same stages, quotas and rights. */
export function inProcessChat(completions: CompletionService, fingerprint: string): CompletionsApi['chat'] {
  const check = new SchemaCheck(chatReader.schema);
  return async (caller, body, signal) => {
    const fault = check.findFault(body, 'the request');
    if (fault !== undefined) throw invalid(fault.member, fault.sentence);
    const { tenant, subject: user, kind, keyId } = caller;
    const key = kind === 'key' ? keyId : undefined;
    const asker = { caller, options: { tenant, user, key, signal, announce: () => {}, seesBackends: false } };
    const call = chatCall(chatReader.read(body as Static<typeof chatReader.schema>, 0), asker, fingerprint);
    let costMicros = 0;
    const wire = (answer: ModelledAnswer): Wire => {
      const written = call.wire(answer);
      const body = (whole: Answer) => {
        costMicros = whole.usage.provider?.costMicros ?? 0;
        return written.body(whole);
      };
      return { ...written, body };
    };
    const reply = await completions.answer(asker, { ...call, wire });
    if (reply.kind !== 'bytes') throw new TypeError('a request that is not streamed was answered by a stream');
    return { ...(JSON.parse(String(reply.body)) as Static<typeof ChatCompletion>), costMicros };
  };
}

function chatCall(
  { request, stream, includeUsage, conversation, knowledge, memory, logs, edgeTools: names }: ChatCall,
  asker: Asker,
  fingerprint: string,
): AnswerCall {
  const edgeTools = wantsEdgeTools(asker) ? { names } : undefined;
  if (names !== undefined && edgeTools === undefined)
    throw invalid('edge_tools', 'edge_tools needs the header X-Svc-Edge-Tools: 1, which has the node run its own tools.');
  const wire = (answer: ModelledAnswer) => chatWire(answer, includeUsage, fingerprint);
  return { request, isStreamed: stream, conversation, knowledge, memory, logs, edgeTools, wire };
}

function chatWire(
  { model, call, filters, knowledge, memories, logs, routes: chosen }: ModelledAnswer,
  includeUsage: boolean,
  fingerprint: string,
): Wire {
  const head: ChunkHead = { id: identifier('chatcmpl-'), created: unixSeconds(), model: model.card.id, fingerprint };
  const nChoices = call.request.job.n ?? 1;
  const hasKnowledge = filters !== undefined && knowledge !== undefined;
  if (!hasKnowledge && memories === undefined && logs === undefined)
    return {
      encoder: () => new ChunkEncoder(head, nChoices, includeUsage),
      body: (answer) => chatCompletion(head, answer),
    };
  const found = {
    ...memoryMembers(memories),
    ...(hasKnowledge && unindexedMember(knowledge.unindexed)),
    ...routeMember(chosen?.knowledge),
  };
  // What is cited is known when the text has come.
  const membersOf = () => ({ ...found, ...(logs !== undefined && { logs: logs.shown }) });
  const citedBy = hasKnowledge ? (choice: number) => wireCitations(filters.citedBy(choice)) : undefined;
  const lastChunk = (choice: number) => {
    const [cited, members] = [citedBy?.(choice), membersOf()];
    if (cited === undefined) return { delta: {}, members };
    const { citations, annotations } = cited;
    return { delta: { annotations }, members: { citations, ...members } };
  };
  return {
    encoder: () => new ChunkEncoder(head, nChoices, includeUsage, lastChunk),
    body: (answer) =>
      chatCompletion(head, answer, { cited: citedBy && answer.choices.map((_, i) => citedBy(i)), members: membersOf() }),
  };
}
