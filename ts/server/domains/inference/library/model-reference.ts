/** Reads what a person may ask `models pull` for: a catalogue name, `owner/repo:file` on the hub, or a URL. */
import { type CatalogueModel, findInCatalogue } from './catalogue.ts';
import { LibraryError } from './files/library-error.ts';
import { checkModelName, findPart, modelNameOfFile } from './model-name.ts';

export interface ModelReference {
  /** Name that the model gets in the library. */
  name: string;
  /** `hub`: path below the hub's (or mirror's) base URL; `url`: complete address; `node`: another node of the cluster has a model of that name. */
  source: { kind: 'hub'; repo: string; file: string; revision: string } | { kind: 'url'; url: URL } | { kind: 'node' };
  catalogue?: CatalogueModel;
}

const hubReference = /^([A-Za-z0-9][\w.-]{0,95})\/([A-Za-z0-9][\w.-]{0,95}):([^@]+?)(?:@([\w.-]+(?:\/[\w.-]+)*))?$/;

/**
 * Throws LibraryError not_found (no catalogue name) or invalid_name (anything that could lead out of the library). `hasNodes`: a name that the catalogue
 * has not is that of a model of another node.
 */
export function parseModelReference(text: string, hasNodes = false): ModelReference {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return parseUrl(text);
  if (text.includes('/') || text.includes(':')) return parseHub(text);
  const model = findInCatalogue(text);
  if (model) return { name: model.name, source: { kind: 'hub', ...hubFile(model) }, catalogue: model };
  const name = checkModelName(text).toLowerCase();
  if (hasNodes) return { name, source: { kind: 'node' } };
  throw unknownModel(text);
}

export function unknownModel(text: string): LibraryError {
  return new LibraryError(
    'not_found',
    `the catalogue has no model "${text}"`,
    'run `svc models list --catalogue` for the names, or give owner/repo:file.gguf or a URL',
  );
}

const hubFile = ({ repo, file, revision }: CatalogueModel) => ({ repo, file, revision });

function parseHub(text: string): ModelReference {
  const match = hubReference.exec(text);
  const [, owner, repo, file, revision = 'main'] = match ?? [];
  if (!owner || !repo || !file || !isSafePath(file) || !isSafePath(revision) || !isSafePath(`${owner}/${repo}`)) {
    const shown = JSON.stringify(text.slice(0, 200));
    throw new LibraryError(
      'invalid_name',
      `${shown} is not of the form owner/repo:file.gguf`,
      'for example Qwen/Qwen3-0.6B-GGUF:Qwen3-0.6B-Q8_0.gguf',
    );
  }
  checkModelFile(file);
  return { name: modelNameOfFile(file), source: { kind: 'hub', repo: `${owner}/${repo}`, file, revision } };
}

function parseUrl(text: string): ModelReference {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new LibraryError(
      'invalid_name',
      `${JSON.stringify(text.slice(0, 200))} is not an http(s) address`,
      'give an https:// address that ends in .gguf',
    );
  }
  if (url.username || url.password) {
    throw new LibraryError(
      'invalid_name',
      'the address carries a user name or password',
      'leave it out: it would be stored beside the model',
    );
  }
  const file = fileOfUrl(url);
  checkModelFile(file);
  url.hash = '';
  return { name: modelNameOfFile(file), source: { kind: 'url', url } };
}

/** The last segment of a URL's path, decoded where it can be. */
export function fileOfUrl(url: URL): string {
  const segment = url.pathname.slice(url.pathname.lastIndexOf('/') + 1);
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function checkModelFile(file: string): void {
  if (!/\.(gguf|bin)$/i.test(file)) {
    throw new LibraryError(
      'invalid_name',
      `${JSON.stringify(file.slice(0, 200))} does not end in .gguf`,
      'name the GGUF file itself (whisper models: .bin)',
    );
  }
  const part = findPart(file);
  if (part && part.index !== 1) {
    throw new LibraryError(
      'invalid_name',
      `that is part ${part.index} of a split model`,
      'name the first part; the others are pulled with it',
    );
  }
}

/** Plain relative path: no empty, dot or hidden segment, no backslash, nothing that a URL or a file system reads otherwise. */
function isSafePath(path: string): boolean {
  return (
    path.length <= 300 && path.split('/').every((segment) => /^[A-Za-z0-9_][\w.+ -]*$/.test(segment) && !segment.includes('..'))
  );
}

/** Address below the hub or a mirror that serves the same paths. */
export function hubUrl(base: URL, { repo, file, revision }: { repo: string; file: string; revision: string }): URL {
  const path = [...repo.split('/'), 'resolve', revision, ...file.split('/')].map(encodeURIComponent).join('/');
  return new URL(`${base.pathname.replace(/(?<!\/)\/+$/, '')}/${path}`, base.origin);
}
