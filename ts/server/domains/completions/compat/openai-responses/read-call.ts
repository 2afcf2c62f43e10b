/** POST /v1/responses, checked by its schema -> what is needed to make the response, and to keep it. */

import type { CompletionRequest } from '../../../inference/index.ts';
import { invalid } from '../../errors.ts';
import { bodyReader, packRequest } from '../body-reader.ts';
import { isMembers } from '../members.ts';
import { needsKnowledge } from './file-search/file-search.ts';
import { isHosted } from './hosted/hosted-tools.ts';
import { isTooLargeToKeep, maxKeptLength } from './kept-items.ts';
import { readResponsesRequest } from './request.ts';
import { ResponsesRequest } from './schema.ts';

export interface ResponsesCall {
  /** The members that the schema knows; `input` is empty where nothing will be kept of it. */
  body: ResponsesRequest;
  isInputTooLargeToKeep: boolean;
  /** Absent when it needs the items of the response that this one continues, a search, files or tools of the node. */
  request: CompletionRequest | undefined;
}

/** The response repeats most members in each of its events that hold it whole. */
const maxOtherLength = 1024 * 1024;

function readResponsesCall(whole: ResponsesRequest, sizeBytes: number): ResponsesCall {
  const { input, ...others } = knownMembers(whole);
  if (sizeBytes > maxOtherLength) refuseLongMembers(others);
  const isInputTooLargeToKeep = isTooLargeToKeep(input);
  const continues = typeof whole.previous_response_id === 'string';
  if (continues && isInputTooLargeToKeep) {
    throw invalid(
      'input',
      `input has more than ${maxKeptLength} characters, which is the most behind previous_response_id; send the items.`,
    );
  }
  const hasHosted = (whole.tools ?? []).some(isHosted);
  if (!hasHosted && typeof input !== 'string' && input.some(isApproval))
    throw invalid(
      'input',
      'input has an mcp_approval_response, and tools has no MCP server: send the tools of the first request.',
    );
  const waits = continues || hasHosted || needsKnowledge(whole);
  const isNeeded = waits || (whole.store !== false && !isInputTooLargeToKeep);
  return {
    body: { ...others, input: isNeeded ? input : '' },
    isInputTooLargeToKeep,
    request: waits ? undefined : readResponsesRequest(whole),
  };
}

function isApproval(item: unknown): boolean {
  return isMembers(item) && item['type'] === 'mcp_approval_response';
}

function knownMembers(whole: ResponsesRequest): ResponsesRequest {
  const known = Object.keys(ResponsesRequest.properties) as (keyof ResponsesRequest)[];
  return Object.fromEntries(known.filter((name) => name in whole).map((name) => [name, whole[name]])) as ResponsesRequest;
}

function refuseLongMembers(others: Omit<ResponsesRequest, 'input'>): void {
  if (JSON.stringify(others).length <= maxOtherLength) return;
  const detail = `instructions, tools, metadata and the other members beside input come to more than ${maxOtherLength} characters`;
  throw invalid('instructions', `${detail}; send long text in input.`);
}

export const responsesReader = bodyReader('responses', ResponsesRequest, readResponsesCall, (call) => ({
  ...call,
  request: call.request && packRequest(call.request),
}));
