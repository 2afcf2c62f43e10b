/** What `svc serve` says when it is up: where, with which model, its page, and a command to try. */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { VERSION } from '../server/product.ts';
import { firstModelsText } from './first-models.ts';
import { printable } from './format.ts';
import { findChatModel, type ServedModel, servedModels } from './served-model.ts';

interface Announcement {
  ready: boolean;
  url: string;
  /** The chat, for a browser. */
  page: string;
  version: string;
  model: string | null;
  /** Why no model is loaded. */
  reason: string | null;
  /** For people. */
  text: string;
}

interface Health {
  inference?: { default_model?: string; reason?: string };
}

/** Asks the server itself, as any client would. Rejects when it does not answer, or when `stopped` is aborted. */
export async function announcement(url: string, stopped?: AbortSignal): Promise<Announcement> {
  const models = servedModels(await getJson(`${url}/v1/models`, stopped));
  const { inference = {} } = (await getJson(`${url}/health`, stopped)) as Health;
  const loaded = models.filter(({ state }) => state === 'loaded');
  const model = loaded.find((each) => each.default === true) ?? loaded[0];
  const page = `${url}/chat`;
  const common = { url, page, version: VERSION };
  if (model) {
    const note = model.note === undefined ? '' : ` (${printable(model.note)})`;
    const more = model.note === undefined ? '' : `\nA model that talks: ${firstModelsText()}`;
    const text = `svc ${VERSION} is ready at ${url} with ${model.id}${note}\nOpen: ${page}\nTry: ${sample(url, model)}${more}`;
    return { ...common, ready: true, model: model.id, reason: null, text };
  }
  const reason = whyNoModel(inference);
  const text = `svc ${VERSION} runs at ${url}, but ${reason}\nOpen: ${page}\nTry: curl ${url}/health`;
  return { ...common, ready: false, model: null, reason, text };
}

function whyNoModel({ default_model: name, reason }: NonNullable<Health['inference']>): string {
  if (reason !== undefined) return `local models cannot run: ${printable(reason)}`;
  if (name !== undefined) return `the model ${printable(name)} could not be loaded; the log says why`;
  return `there is no model yet: ${firstModelsText()}`;
}

/** This uses node:http, since the first use of fetch takes time of the thread that has the first requests to answer. */
async function getJson(url: string, stopped: AbortSignal | undefined): Promise<unknown> {
  const limit = AbortSignal.timeout(5_000);
  const request = get(url, { signal: stopped === undefined ? limit : AbortSignal.any([limit, stopped]) });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return JSON.parse((await response.setEncoding('utf8').toArray()).join(''));
}

function sample(url: string, model: ServedModel): string {
  const isChat = findChatModel([model]) !== undefined;
  const path = isChat ? '/v1/chat/completions' : '/v1/embeddings';
  const messages = [{ role: 'user', content: 'Hello!' }];
  const body = isChat ? { model: model.id, messages, stream: true } : { model: model.id, input: 'Hello!' };
  return `curl -N ${url}${path} -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
}
