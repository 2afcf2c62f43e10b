/** The tables of the module. */
import type { Generated } from 'kysely';

export interface KnowledgeTables {
  data_bases: BaseTable;
  data_documents: DocumentTable;
  data_chunks: ChunkTable;
  data_blocks: BlockTable;
}

export interface BaseTable {
  tenant: string;
  no: Generated<number>;
  namespace: string;
  embedding_model: string;
  /** `local`, or `remote`: the service of `data.embedding_url`. */
  embedding_source: string;
  /** The family of prefixes that its texts are embedded with; null: of before there were any, without. */
  embedding_prefixes: string | null;
  /** Null until the first document is embedded. */
  dimensions: number | null;
  /** Counts the changes of its documents. */
  version: number;
  /** Tombstones up to this version are gone: who has not seen them must read the base anew. */
  swept_version: number;
  /** 1: nobody sees it any more, and its rows are being removed. */
  removed: number;
  created_at: number;
  /** `vs_` and 32 hexadecimal digits: what OpenAI's routes call it. */
  public_id: string;
  /** As OpenAI's routes show it; null: the namespace. */
  title: string | null;
  /** JSON object of texts. */
  metadata: string | null;
  /** Days without use after which the base is removed; null: it stays. */
  expires_days: number | null;
  /** Of the last search or added file, to the hour; null: of neither. */
  used_at: number | null;
  /** Whose files of a conversation these are, as uploads name who sends; null: a base of the tenant. */
  owner: string | null;
}

/** `failed`: a file that was attached and could not be indexed; it is shown as that until it is removed. */
export type DocumentState = 'pending' | 'ready' | 'failed' | 'deleted';

export interface DocumentTable {
  tenant: string;
  no: Generated<number>;
  base_no: number;
  id: string;
  source: string;
  title: string | null;
  /** SHA-256 of what was given, in hexadecimal. */
  sha256: string;
  kind: string;
  /** JSON array of texts. */
  tags: string;
  /** Of the document itself, milliseconds since 1970. */
  dated_at: number;
  bytes: number;
  n_chunks: number;
  state: string;
  /** Of the base, when it was published or deleted. */
  version: number;
  job_id: string | null;
  /** Of its last change of state. */
  changed_at: number;
  /** Of the stored file that it was made of; null: it was added by itself. */
  file_id: string | null;
  /** JSON object of texts, numbers and booleans, which searches filter by. */
  attributes: string | null;
  /** The batch in which the file was attached. */
  batch_id: string | null;
  /** JSON of `{code, message}` of a failed one. */
  failure: string | null;
  /** JSON array of sentences about what of the file was not read; null: all was. */
  warnings: string | null;
}

export interface ChunkTable {
  tenant: string;
  base_no: number;
  document_no: number;
  seq: number;
  text_start: number;
  text_end: number;
  text: string;
  heading: string | null;
  page: number | null;
  sheet: string | null;
  slide: number | null;
  /** The time in a recording at which it is said. */
  start_seconds: number | null;
  end_seconds: number | null;
  embedding_model: string;
  /** 32-bit floats, little-endian. */
  embedding: Uint8Array;
  terms: Uint8Array;
}

/** What is to be indexed of a pending document. */
interface BlockTable {
  tenant: string;
  document_no: number;
  seq: number;
  /** `text`, `markdown`, `blocks`, or `file` for one that is still to be read; the same in all rows of a document. */
  form: string;
  /** A stretch of the text, a JSON array of blocks, or the name of the file. */
  content: string;
}
