/**
 * Reads a model file of whisper.cpp: what it says of itself, and whether upstream's reader, which trusts its numbers, may be given it. Source of
 * the format: models/convert-pt-to-ggml.py and whisper_model_load() of whisper.cpp 1.9.1.
 */
import { open } from 'node:fs/promises';
import { FileCursor } from '../../../../platform/gguf/file-cursor.ts';
import { findGgmlType } from '../../../../platform/gguf/ggml-type.ts';

interface SpeechFacts {
  nParams: number;
  quantisation: string;
}

/** Numbers of ggml's file types (enum ggml_ftype) that are made of whisper models. */
const fileTypes: Readonly<Record<number, string>> = { 0: 'f32', 1: 'f16', 2: 'q4_0', 3: 'q4_1', 7: 'q8_0', 8: 'q5_0', 9: 'q5_1' };
/** English alone; 99 languages; 100. Places of tokens are computed from it. */
const VOCABULARIES = [51_864, 51_865, 51_866];
const MOST_TOKEN_BYTES = 1_024;
const MOST_NAME_BYTES = 128;
const FREQUENCIES = 201;

class Fault extends Error {}

/** Throws an error whose message says what is amiss. */
export async function readSpeechFacts(path: string): Promise<SpeechFacts> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    return await readFile(new FileCursor(file, size, size));
  } finally {
    await file.close();
  }
}

async function readFile(cursor: FileCursor): Promise<SpeechFacts> {
  await cursor.need(48, 'the head of a speech model');
  cursor.skip(4, 'the magic');
  const numbers = Array.from({ length: 11 }, () => cursor.u32() | 0);
  const [nVocabulary = 0, nContext = 0, audioState = 0, audioHeads = 0, audioLayers = 0] = numbers;
  const [textContext = 0, textState = 0, textHeads = 0, textLayers = 0, nMels = 0, fileType = 0] = numbers.slice(5);
  // The length of a name, and the name: the head of a voice activity model, which has the same magic.
  if (nVocabulary === 10 && nContext === 0x656c_6973) throw new Fault('it is a voice activity model and no speech model');
  between('a vocabulary', nVocabulary, 51_864, 51_866);
  if (!VOCABULARIES.includes(nVocabulary)) throw new Fault(`it has a vocabulary of ${nVocabulary}`);
  between('a sound context', nContext, 1, 1_500);
  between('a text context', textContext, 32, 4_096);
  for (const [state, heads] of [
    [audioState, audioHeads],
    [textState, textHeads],
  ] as const) {
    between('a width', state, 8, 4_096);
    between('heads', heads, 1, 128);
    if (state % heads !== 0) throw new Fault(`it divides a width of ${state} by ${heads} heads`);
  }
  if (audioState !== textState) throw new Fault('its two halves have different widths');
  between('sound layers', audioLayers, 1, 64);
  between('text layers', textLayers, 1, 64);
  if (nMels !== 80 && nMels !== 128) throw new Fault(`it has ${nMels} mel filters`);
  const quantisation = fileTypes[fileType % 1_000];
  if (fileType < 0 || quantisation === undefined) throw new Fault(`its file type is ${fileType}`);
  await readFilters(cursor, nMels);
  await readVocabulary(cursor, nVocabulary);
  const nParams = await readTensors(cursor, 11 + 15 * audioLayers + 24 * textLayers);
  return { nParams, quantisation };
}

async function readFilters(cursor: FileCursor, nMels: number): Promise<void> {
  await cursor.need(8, 'the mel filters');
  const [rows, columns] = [cursor.u32(), cursor.u32()];
  if (rows !== nMels || columns !== FREQUENCIES) throw new Fault(`its mel filters are ${rows} by ${columns}`);
  cursor.skip(rows * columns * 4, 'the mel filters');
}

async function readVocabulary(cursor: FileCursor, most: number): Promise<void> {
  await cursor.need(4, 'the vocabulary');
  const count = cursor.u32();
  if (count > most) throw new Fault(`it lists ${count} of ${most} tokens`);
  let hasBlank = false;
  for (let i = 0; i < count; i++) {
    await cursor.need(4, 'a token');
    const length = cursor.u32();
    if (length > MOST_TOKEN_BYTES) throw new Fault(`its token ${i} has ${length} bytes`);
    await cursor.need(length, 'a token');
    const token = cursor.take(length);
    hasBlank ||= length === 1 && token[0] === 0x20;
  }
  // Upstream looks it up for each text and ends in an exception without it.
  if (!hasBlank) throw new Fault('its vocabulary has no blank');
}

/** Returns how many numbers all tensors have. Names and shapes are compared by upstream's reader, which refuses what it does not know. */
async function readTensors(cursor: FileCursor, expected: number): Promise<number> {
  let nParams = 0;
  let count = 0;
  for (; cursor.remaining > 0; count++) {
    await cursor.need(12, 'a tensor');
    const [nDims, nameLength, typeId] = [cursor.u32(), cursor.u32(), cursor.u32()];
    between('dimensions of a tensor', nDims, 1, 4);
    between('bytes of a tensor’s name', nameLength, 1, MOST_NAME_BYTES);
    const type = findGgmlType(typeId);
    if (type === undefined) throw new Fault(`a tensor is of the unknown type ${typeId}`);
    await cursor.need(nDims * 4, 'a tensor');
    const dims = Array.from({ length: nDims }, () => cursor.u32());
    const nNumbers = dims.reduce((product, dim) => product * dim, 1);
    if (nNumbers < 1 || nNumbers > 2 ** 31 - 1) throw new Fault(`a tensor has ${nNumbers} numbers`);
    if ((dims[0] ?? 0) % type.blockLength !== 0) throw new Fault('a row of a tensor is no whole number of blocks');
    cursor.skip(nameLength, 'a tensor');
    cursor.skip((nNumbers / type.blockLength) * type.blockBytes, 'a tensor');
    nParams += nNumbers;
  }
  if (count !== expected) throw new Fault(`it has ${count} of ${expected} tensors`);
  return nParams;
}

function between(what: string, value: number, least: number, most: number): void {
  if (!(value >= least && value <= most)) throw new Fault(`it has ${what} of ${value}, and not ${least} to ${most}`);
}
