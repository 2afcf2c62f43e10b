/** Requests to addresses that callers and models name: public ones over https, and the hosts that the operator allows. */
import { DomainError } from '../../../platform/errors/domain-error.ts';
import { AddressPolicy } from '../../../platform/network/address-policy.ts';
import type { AllowedHost } from '../../../platform/network/allowed-host.ts';
import { HttpClient } from '../../../platform/network/http-client.ts';
import { HttpClientError } from '../../../platform/network/http-client-error.ts';
import { edgeError } from '../errors.ts';

export function webClient(allowed: readonly AllowedHost[]): HttpClient {
  return new HttpClient({ policy: addressPolicyOf(allowed) });
}

export function addressPolicyOf(allowed: readonly AllowedHost[]): AddressPolicy {
  const refusal = (sentence: string) => edgeError('unsafe_address', `The address cannot be reached: ${sentence}.`);
  return new AddressPolicy({ trusted: [], allowed, refusal });
}

/** Failures on the way to another server, as something that the caller can read; what names and addresses inside the network are stays out. */
export async function reaching<T>(host: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DomainError || (error as Error).name === 'AbortError' || (error as Error).name === 'TimeoutError')
      throw error;
    const { code } = error as NodeJS.ErrnoException;
    const reason = error instanceof HttpClientError ? error.message : (code ?? 'the connection failed');
    throw edgeError('fetch_failed', `${host} gave no answer: ${reason}.`, { cause: error });
  }
}
