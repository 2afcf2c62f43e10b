/** Offers the node's own tools to the model that answers, where the client asks for them by the header X-Svc-Edge-Tools. */
import type { Text } from '../../../native/llama-shapes.ts';
import { DomainError } from '../../../platform/errors/domain-error.ts';
import { KnownAddresses } from '../../../platform/tools/known-addresses.ts';
import type { Tool } from '../../../platform/tools/tool.ts';
import type { ToolRuns } from '../../edge/index.ts';
import type { ChatPrompt, CompletionRequest } from '../../inference/index.ts';
import type { Answer } from '../answer/answer-collector.ts';
import type { StreamEncoder } from '../answer/frames.ts';
import type { Asker, ModelledAnswer, PendingAnswer, Stage } from '../answer/pending-answer.ts';
import { SchemaReader } from '../compat/json-schema.ts';
import { type Members, messageText } from '../compat/members.ts';
import { promptTools, readFunction, toolSchemas } from '../compat/tools.ts';
import { invalid } from '../errors.ts';
import { lastQuestion, parseText, promptMessages } from '../prompt-messages.ts';
import { type ApprovedCall, type CallDecision, chooseTools } from './answer-tools.ts';

/** The module edge, whose `api` throws while it does not run. */
export interface ToolModule {
  readonly api: { readonly runs: ToolRuns };
}

const WITH_TOOLS = 'with X-Svc-Edge-Tools';

export class ToolStage implements Stage {
  readonly members = ['edgeTools'] as const;
  readonly #module: ToolModule;

  constructor(module: ToolModule) {
    this.#module = module;
  }

  async prepare(answer: PendingAnswer): Promise<void> {
    const { call, asker, request } = answer;
    const { prompt, n = 1 } = request.job;
    if (call.edgeTools === undefined || prompt.kind !== 'chat') return;
    if (n > 1) throw invalid('n', 'n must be 1 with X-Svc-Edge-Tools: an answer that calls tools is one.');
    const { runs } = this.#module.api;
    // Messages that wait for passages are not in the prompt yet.
    const messages = call.knowledge?.messages ?? promptMessages(prompt.messagesJson, WITH_TOOLS);
    const own = ownFunctions(prompt);
    const { hosted, names } = call.edgeTools;
    const tools = await runs.offered(asker.caller);
    const choice = hosted?.choose(tools, await runs.mcpServers(asker.caller));
    const offered = chooseTools({
      tools,
      names,
      hosted,
      ofHosted: choice?.offered ?? [],
      question: lastQuestion(messages),
      taken: new Set(own.map((each) => each.function.name)),
    });
    // What a client's own tools returned may be text of others, too.
    const isTainted =
      hosted?.isTainted === true ||
      messages.some(({ role }) => role === 'tool') ||
      (await runs.isTainted(asker.caller, call.conversation?.id));
    const read = call.knowledge === undefined ? { ...prompt, messagesJson: JSON.stringify(messages) } : prompt;
    // A client that forces one of its functions, or none, leaves nothing to choose.
    const isFree = prompt.toolChoice === undefined || prompt.toolChoice === 'auto';
    const addresses = new KnownAddresses();
    for (const { role, content } of messages) if (role === 'user') addresses.addText(messageText(content));
    answer.tools = {
      runs,
      offered: isFree ? offered : new Map(),
      isTainted,
      addresses,
      hosted,
      listings: choice?.listings ?? [],
      approved: hosted?.decisions === undefined ? [] : await decide(hosted.decisions, tools, asker, runs),
    };
    answer.request = withTools({ ...request, job: { ...request.job, prompt: read } }, read, own, answer.tools.offered);
  }

  /** Passages that were found are text of others. */
  async fit(answer: ModelledAnswer): Promise<void> {
    const { tools, knowledge, asker, call } = answer;
    if (tools === undefined || tools.isTainted || knowledge === undefined) return;
    answer.tools = { ...tools, isTainted: true };
    await tools.runs.taint(asker.caller, call.conversation?.id);
  }

  wrap(inner: StreamEncoder): StreamEncoder {
    return inner;
  }

  finish(whole: Answer): Answer {
    return whole;
  }
}

const NOT_THEIRS: ReadonlySet<string> = new Set(['approval_not_found', 'forbidden']);

/** Writes down what the client decided before anything runs; a call that somebody decided about otherwise is made as that was decided. */
async function decide(
  decisions: readonly CallDecision[],
  tools: readonly Tool[],
  { source }: Asker,
  runs: ToolRuns,
): Promise<ApprovedCall[]> {
  if (source === undefined) throw new TypeError('an answer without a source decides about calls');
  const approved: ApprovedCall[] = [];
  for (const { tool: name, ...decision } of decisions) {
    const tool = tools.find((each) => each.name === name);
    if (tool === undefined && decision.isApproved)
      throw invalid('input', `${decision.id.slice(0, 100)} is of a call of ${name.slice(0, 100)}, which you cannot use now.`);
    await runs
      .decide(source, decision.approval, decision.isApproved ? 'approve' : 'deny', decision.reason)
      .catch((error: unknown) => {
        if (error instanceof DomainError && error.code === 'approval_closed') return;
        if (!(error instanceof DomainError) || !NOT_THEIRS.has(error.code)) throw error;
        throw invalid('input', `${decision.id.slice(0, 100)} is of no call that you may decide about.`);
      });
    if (tool !== undefined && decision.isApproved) approved.push({ ...decision, tool });
  }
  return approved;
}

interface OwnFunction {
  readonly function: { readonly name: string };
}

function ownFunctions({ toolsJson }: ChatPrompt): OwnFunction[] {
  return toolsJson === undefined ? [] : (parseText(toolsJson, WITH_TOOLS) as OwnFunction[]);
}

/** The node's tools stand behind the functions of the client. */
function withTools(
  request: CompletionRequest,
  prompt: ChatPrompt,
  own: readonly OwnFunction[],
  offered: ReadonlyMap<string, Tool>,
): CompletionRequest {
  if (offered.size === 0) return request;
  const schemas = new SchemaReader();
  const tools = [...offered].map(([name, { description, input }]) =>
    readFunction({ name, description, parameters: input }, `the tool ${name}`, schemas),
  );
  const use = { tools, choice: 'auto' } as const;
  const shown = tools.map((tool) => tool.shown);
  const followed = { ...membersOf(request.job.toolSchemas), ...membersOf(toolSchemas(use, schemas).toolSchemas) };
  const withBoth: ChatPrompt = { ...prompt, ...promptTools(use, undefined), toolsJson: JSON.stringify([...own, ...shown]) };
  return { ...request, needsTools: true, job: { ...request.job, prompt: withBoth, toolSchemas: JSON.stringify(followed) } };
}

function membersOf(text: Text | undefined): Members {
  return text === undefined ? {} : (parseText(text, WITH_TOOLS) as Members);
}
