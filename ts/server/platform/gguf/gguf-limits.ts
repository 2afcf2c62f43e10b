/** What a sound model file never exceeds; the largest tokenizers in use have about 262,000 tokens and 16 MB of metadata. */
export interface GgufLimits {
  maxTensors: number;
  maxKeys: number;
  maxKeyBytes: number;
  maxStringBytes: number;
  maxArrayElements: number;
  /** Longer arrays are skipped unless asked for. */
  bigArrayElements: number;
  /** Bytes of names and values that the reader keeps in memory. */
  maxKeptBytes: number;
  /** Where tensor data must have begun, bytes. */
  maxHeaderBytes: number;
  maxAlignment: number;
}

export const ggufLimits: GgufLimits = {
  maxTensors: 65_536,
  maxKeys: 65_536,
  maxKeyBytes: 65_535,
  maxStringBytes: 4 * 1024 * 1024,
  maxArrayElements: 1 << 24,
  bigArrayElements: 1_024,
  maxKeptBytes: 16 * 1024 * 1024,
  maxHeaderBytes: 512 * 1024 * 1024,
  maxAlignment: 1 << 20,
};

/** For callers that asked for whole arrays. */
export const maxKeptBytesWithArrays = 256 * 1024 * 1024;

/** GGML_MAX_NAME counts the closing NUL (ggml/include/ggml.h). */
export const maxTensorNameBytes = 63;
export const maxTensorDims = 4;
