import { systemScope } from '../../../platform/storage/index.ts';
import { loadBiscuit } from '../capabilities/biscuit.ts';
import { readEnvelope } from '../capabilities/envelope.ts';
import type { IdentityTables } from '../tables.ts';
import type { IdentityBed } from './identity-bed.ts';

export interface Made {
  id: string;
  token: string;
}

export async function makeCapability(bed: IdentityBed, as: string, body: object): Promise<Made> {
  const made = await bed.ask('POST', '/api/v1/identity/capabilities', { as, body: { expires_in_seconds: 3600, ...body } });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  return made.body as Made;
}

/** Derives as a holder does, without the server. */
export async function deriveOffline(bed: IdentityBed, token: string, datalog: string): Promise<string> {
  const { Biscuit, PublicKey, SignatureAlgorithm } = await loadBiscuit();
  const envelope = readEnvelope(token);
  const rows = await bed.storage
    .access<IdentityTables>()
    .read(systemScope(), (db) => db.selectFrom('identity_capability_keys').selectAll().execute());
  const key = rows.find(({ number }) => number === envelope?.keyNumber);
  if (envelope === undefined || key === undefined) throw new Error('the token is not of this database');
  const block = Biscuit.block_builder();
  block.addCode(datalog);
  const parent = Biscuit.fromBytes(envelope.bytes, PublicKey.fromString(key.public_key, SignatureAlgorithm.Ed25519));
  return parent.appendBlock(block).toBase64();
}
