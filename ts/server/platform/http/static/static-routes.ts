/** Routes that serve a built folder: a page, its files, or both under one path. */
import Type from 'typebox';
import { type ErrorSpec, HttpError } from '../errors.ts';
import type { PolicyName } from '../policy.ts';
import { isNotModified } from '../reply/entity-tag.ts';
import type { Reply, ReplyHeaders } from '../reply/reply.ts';
import type { RequestContext, Route } from '../route.ts';
import { routes } from '../route-group.ts';
import { codingFor, StaticFolder } from './static-folder.ts';

export interface StaticOptions {
  folder: string;
  /** Path of the page, for example `/chat`; the files of the folder stand below it. */
  path: string;
  /** Answered at the path itself; `index.html` by default. */
  index?: string;
  auth: PolicyName;
  tag: string;
  summary: string;
  /** Headers of every answer, for example a Content-Security-Policy. */
  headers?: ReplyHeaders;
}

/** Bundlers put a hash of the content before the extension: `app-B3xk9_Qa.js`, `app.3f9a2c1d.css`. */
const HASHED_NAME = /[.-](?=[A-Za-z0-9_-]{0,63}\d)[A-Za-z0-9_-]{8,64}\.\w+$/;
const NEVER_CHANGES = 'public, max-age=31536000, immutable';
/** Kept, and asked about each time. */
const MAY_CHANGE = 'no-cache';

const FILE = { 200: Type.String({ description: 'The file.' }) };
/** Relative addresses of the page would mean other files with a slash at the end. */
const MOVED = { 308: Type.String({ description: 'The page stands at the path without the slash.' }) };

export function staticRoutes(options: StaticOptions): Route[] {
  return [...pageRoutes(options), fileRoute(options)];
}

/** The page alone, whose files stand elsewhere. */
export function pageRoutes({
  folder,
  index = 'index.html',
  missing,
  ...options
}: StaticOptions & { missing?: ErrorSpec & { detail: string } }): Route[] {
  const files = new StaticFolder(folder);
  const { path, headers = {}, auth, tag, summary } = options;
  const { get } = routes({ auth, tag });
  return [
    get(path, {
      summary,
      responses: FILE,
      errors: missing === undefined ? [] : [missing],
      handle: async (context) => {
        if (missing === undefined || (await files.find(index)) !== undefined) return answer(files, index, context, headers);
        throw new HttpError(missing.status, missing.code, missing.detail);
      },
    }),
    get(`${path}/`, { summary, responses: MOVED, handle: () => movedTo(path) }),
  ];
}

/** The files of a folder, below the path. */
export function fileRoute({ folder, path, headers = {}, auth, tag, summary }: StaticOptions): Route {
  const files = new StaticFolder(folder);
  return routes({ auth, tag }).get(`${path}/*`, {
    summary,
    responses: FILE,
    params: Type.Object({ path: Type.String({ description: 'Name of the file within the folder.' }) }),
    errors: [{ status: 404, code: 'not_found', meaning: 'The folder holds no such file.', remedy: 'Load the page again.' }],
    handle: (context) => answer(files, context.params.path, context, headers),
  });
}

function movedTo(path: string): Reply {
  return { kind: 'bytes', status: 308, headers: { location: path }, body: '' };
}

async function answer(files: StaticFolder, name: string, context: RequestContext, headers: ReplyHeaders): Promise<Reply> {
  const file = await files.find(name);
  if (file === undefined) throw new HttpError(404, 'not_found', `There is no file ${name.slice(0, 200)} here.`);
  const coding = codingFor(file, context.headers.get('accept-encoding'));
  // Each coding is a representation of its own and needs a tag of its own.
  const etag = coding === 'identity' ? `"${file.tag}"` : `"${file.tag}-${coding}"`;
  const fields: ReplyHeaders = {
    ...headers,
    'content-type': file.contentType,
    'cache-control': HASHED_NAME.test(name) ? NEVER_CHANGES : MAY_CHANGE,
    'x-content-type-options': 'nosniff',
    etag,
    ...(file.codings.length > 0 ? { vary: 'Accept-Encoding' } : {}),
  };
  if (isNotModified(context.headers, etag, undefined)) return { kind: 'bytes', status: 304, headers: fields, body: '' };
  const encoding: ReplyHeaders = coding === 'identity' ? {} : { 'content-encoding': coding };
  return { kind: 'bytes', status: 200, headers: { ...fields, ...encoding }, body: await file.bytes(coding) };
}
