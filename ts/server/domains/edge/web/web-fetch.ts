/** The tool `web.fetch`: the text of a page, a PDF or an Office file at an address. */
import { basename } from 'node:path';
import Type from 'typebox';
import { scopeOf } from '../../../platform/http/principal.ts';
import type { HttpClient } from '../../../platform/network/http-client.ts';
import type { HttpResponse } from '../../../platform/network/http-response.ts';
import { isSameSite } from '../../../platform/tools/known-addresses.ts';
import { defineTool, type Tool } from '../../../platform/tools/tool.ts';
import type { FileReader } from '../../files/index.ts';
import { edgeError } from '../errors.ts';
import { reaching } from './web-client.ts';

interface WebFetchOptions {
  readonly client: HttpClient;
  readonly userAgent: string;
  /** Throws where files cannot be read on this node. */
  reader(): Pick<FileReader, 'readBytes'>;
}

const MAX_BYTES = 5 * 1024 * 1024;
const MAX_REDIRECTS = 5;
const MOST_LINKS_SHOWN = 50;
/** Their text is what they are; everything else goes through extraction. */
const PLAIN = /^(?:text\/(?!html)|application\/(?:json|[\w.-]+\+json|xml|yaml))/i;

const Input = Type.Object(
  { url: Type.String({ minLength: 8, maxLength: 4_000, pattern: '^https?://', description: 'The whole address.' }) },
  { additionalProperties: false },
);

interface Page {
  readonly title: string | undefined;
  readonly text: string;
  /** The links that stay within its own site. */
  readonly links: readonly string[];
}

export function webFetchTool(options: WebFetchOptions): Tool {
  return defineTool({
    name: 'web.fetch',
    description: 'Read the text of a web page, a PDF or an Office file at an address.',
    input: Input,
    effect: 'read',
    scope: 'tools:use',
    maxSeconds: 60,
    isUntrusted: true,
    reaches: (args) => (args as { url: string }).url,
    run: async ({ caller, addresses, arguments: { url } }, signal) => {
      if (!URL.canParse(url))
        throw edgeError('invalid_request', `${url.slice(0, 200)} is no address.`, { param: 'arguments.url' });
      const answer = await get(options, new URL(url), signal);
      const { title, text, links } = await pageOf(options, answer, scopeOf(caller), signal);
      for (const link of links) addresses?.addLink(link);
      return { url: answer.url.href, title, text, links: links.slice(0, MOST_LINKS_SHOWN) };
    },
  });
}

/** Redirects are followed within the site: another one's address comes from a stranger. */
async function get({ client, userAgent }: WebFetchOptions, start: URL, signal: AbortSignal): Promise<HttpResponse> {
  let url = start;
  for (let n = 0; n <= MAX_REDIRECTS; n += 1) {
    const answer = await reaching(url.hostname, () => client.request(url, { headers: { 'user-agent': userAgent }, signal }));
    const next = answer.location;
    if (next === undefined && answer.isOk) return answer;
    answer.discard();
    if (next === undefined) throw edgeError('fetch_failed', `${url.hostname} answered ${answer.status}.`);
    if (!isSameSite(start, next))
      throw edgeError('fetch_failed', `${url.hostname} leads on to another site: ${next.href.slice(0, 500)}`);
    url = next;
  }
  throw edgeError('fetch_failed', `${start.hostname} leads on more than ${MAX_REDIRECTS} times.`);
}

async function pageOf(
  { reader }: WebFetchOptions,
  answer: HttpResponse,
  scope: ReturnType<typeof scopeOf>,
  signal: AbortSignal,
): Promise<Page> {
  const type = answer.header('content-type') ?? '';
  const bytes = await reaching(answer.url.hostname, () => answer.bytes(MAX_BYTES));
  if (PLAIN.test(type)) return { title: undefined, text: new TextDecoder().decode(bytes), links: [] };
  const fileName = /html/i.test(type) ? 'page.html' : basename(answer.url.pathname);
  const read = await reader().readBytes(scope, { bytes, fileName }, signal);
  if (!('document' in read))
    throw edgeError('fetch_failed', `${answer.url.href.slice(0, 500)} is ${read.storedKind}, which has no text.`);
  const { title, blocks, links = [] } = read.document;
  return { title, text: blocks.map((block) => block.text).join('\n\n'), links: ownLinks(answer.url, links) };
}

function ownLinks(page: URL, links: readonly string[]): string[] {
  const found = links.flatMap((link) => (URL.canParse(link, page.href) ? [new URL(link, page)] : []));
  const own = found.filter((url) => /^https?:$/.test(url.protocol) && isSameSite(page, url));
  for (const url of own) url.hash = '';
  return [...new Set(own.map(({ href }) => href))].filter((href) => href !== page.href);
}
