/** Refusals of the cloud routes, and what a provider's refusal becomes for the client of a model. */
import { type CodeOf, defineErrors } from '../../platform/errors/define-errors.ts';
import type { DomainError } from '../../platform/errors/domain-error.ts';
import { inferenceErrors } from '../inference/index.ts';
import type { Refusal, UnsupportedMember } from './kinds/kind.ts';

export const cloudErrors = defineErrors('cloud', {
  invalid_request: [400, 'A member is missing or wrong; `detail` names it.', 'Correct that member.'],
  address_refused: [
    400,
    'The address has a name and a password in it, is not https, or lies inside a network that backends may not reach.',
    'Name an https address on the internet, or the host in cloud.allowed_hosts.',
  ],
  key_required: [400, 'The provider needs a key, or the key is for another address.', 'Send `key` or `api_key_env` too.'],
  backend_not_found: [404, 'This node has no such backend.', 'List the backends: `svc backend list`.'],
  route_not_found: [404, 'This node has no such route.', 'List the routes: `svc route list`.'],
  backend_exists: [409, 'This node has a backend of that name.', 'Change it with PATCH, or take another name.'],
  node_is_running: [
    409,
    'The node works on the same database, and has its backends itself.',
    'Stop it, and ask again once it is gone: `svc node list`.',
  ],
  key_unreadable: [
    503,
    'The file sealing.key of this node is damaged or was replaced, so keys cannot be stored or read.',
    'Restore it from a backup.',
  ],
});

type CloudErrorCode = CodeOf<typeof cloudErrors>;

export const cloudError = cloudErrors.error;

export function invalidMember(param: string, sentence: string): DomainError<CloudErrorCode> {
  return cloudError('invalid_request', sentence, { param });
}

/** An attempt at a provider that came to nothing. */
export class AttemptFailure extends Error {
  override readonly name = 'AttemptFailure';
  readonly refusal: Refusal;

  constructor(refusal: Refusal, cause?: unknown) {
    super(refusal.sentence, { cause });
    this.refusal = refusal;
  }
}

export function passing(sentence: string, cause?: unknown): AttemptFailure {
  return new AttemptFailure({ meaning: 'passing', status: 0, sentence }, cause);
}

/** `able`: names of models of providers that take the member. */
export function unsupportedBy(model: string, { member, message }: UnsupportedMember, able: readonly string[]): DomainError {
  const others = able.length > 0 ? `, and so do ${able.join(', ')}` : '';
  const sentence = `The provider of ${model} takes no ${member} (${message}). Models of this node take it${others}.`;
  return inferenceErrors.error('unsupported_by_backend', sentence, { param: member, extra: { supported_models: able } });
}

export function notReady(model: string): DomainError {
  return inferenceErrors.error('model_not_ready', `${model} runs at a provider, and this node has no key for it.`);
}

/** The error that the client of a model is told. The sentence has no secret in it. */
export function clientError({ meaning, status, sentence, retryAfterMs, isTooLong }: Refusal, model: string): DomainError {
  const extra = status === 0 ? {} : { provider_status: status };
  const { error } = inferenceErrors;
  const says = `The provider of ${model} says: ${sentence}`;
  switch (meaning) {
    case 'request':
      return isTooLong
        ? error(
            'context_length_exceeded',
            `This model's maximum context length is exceeded, and the prompt is too long: ${sentence}`,
            { extra },
          )
        : error('provider_refused', says, { extra });
    case 'missing':
      return error('model_not_found', says, { param: 'model', extra });
    case 'credit':
      return error('provider_payment_required', says, { extra });
    case 'credential':
      return error('provider_rejected', says, { extra });
    case 'limit':
      return error('provider_rate_limited', says, { extra, retryAfterMs: retryAfterMs ?? 1000 });
    case 'passing':
      return error('provider_unreachable', `The provider of ${model} cannot be asked now: ${sentence}`, {
        extra,
        retryAfterMs: retryAfterMs ?? 1000,
      });
  }
}
