/** Signatures of the Standard Webhooks specification (standardwebhooks.com), which receivers have libraries for. */
import { createHmac, randomBytes } from 'node:crypto';
import type { WebhookSecrets } from '../store/tables.ts';

const PREFIX = 'whsec_';
const KEY_BYTES = 32;

export function newWebhookSecret(): string {
  return PREFIX + randomBytes(KEY_BYTES).toString('base64');
}

/**
 * The three headers by which a receiver knows the sender, the time (whole seconds) and a repetition. Each secret has its signature, so that
 * a receiver may still know the one before.
 */
export function signedHeaders(secrets: readonly string[], id: string, atMs: number, body: string): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

/** Those that deliveries are signed with now, the newest first. */
export function validSecrets({ secret, previous_secret, previous_secret_until }: WebhookSecrets, now: number): string[] {
  const isValid = previous_secret !== null && previous_secret_until !== null && now < previous_secret_until;
  return isValid ? [secret, previous_secret] : [secret];
}
