/** The license of the installation as it is now, and what other modules ask of it. */
import type { Log } from '../../platform/log/log.ts';
import { Repeater } from '../../platform/repeater.ts';
import { licenseError } from './errors.ts';
import type { Feature } from './features.ts';
import type { LicenseFile } from './license-file.ts';
import { type Installation, type LicenseStatus, statusOf } from './license-status.ts';
import type { LicenseTerms } from './license-terms.ts';
import type { PublicKeys } from './public-keys.ts';
import { inspectLicense, type SignedLicense, type UnusableLicense } from './signed-license.ts';

interface LicenseServiceDeps {
  file: LicenseFile;
  keys: PublicKeys;
  /** Unix milliseconds. */
  now(): number;
  log: Log;
}

/** A file that was replaced by hand is noticed within this time. */
const REREAD_MS = 30_000;

export class LicenseService {
  readonly #deps: LicenseServiceDeps;
  readonly #repeater: Repeater;
  #installation: Installation = { id: '', createdAt: 0 };
  #license: LicenseTerms | UnusableLicense | undefined;
  #lastSaid = '';

  constructor(deps: LicenseServiceDeps) {
    this.#deps = deps;
    this.#repeater = new Repeater({
      intervalMs: REREAD_MS,
      run: () => this.reload(),
      onError: (error) => deps.log.warn('the license could not be read again; the one before stays in force', { error }),
    });
  }

  get installation(): Installation {
    return this.#installation;
  }

  /** Throws what the file system says of a file that is there and cannot be read. */
  async start(installation: Installation): Promise<void> {
    this.#installation = installation;
    await this.reload();
    this.#repeater.start();
  }

  async stop(): Promise<void> {
    await this.#repeater.stop();
  }

  status(): LicenseStatus {
    return statusOf(this.#license, this.#installation, this.#deps.now());
  }

  /** Whether the license has the feature, be it expired or not. */
  has(feature: Feature): boolean {
    return this.status().features.includes(feature);
  }

  /** For what adds to a feature; what is there already is served without asking. Throws feature_not_licensed or license_expired. */
  requireFeature(feature: Feature): void {
    const status = this.status();
    if (!status.features.includes(feature)) {
      const sentence = `The license (${status.tier}) does not have the feature ${feature}. Install one that has it with \`svc license install\`.`;
      throw licenseError('feature_not_licensed', sentence, { extra: { feature } });
    }
    if (!status.mayAdd) throw licenseError('license_expired', refusalSentence(status), { extra: { feature } });
  }

  async reload(): Promise<void> {
    const text = await this.#deps.file.read();
    this.#license = text === undefined ? undefined : this.#inspect(text);
    this.#say();
  }

  /** Stores a license that this installation can use. Throws a license error; the one before then stays in force. */
  async install(license: SignedLicense): Promise<void> {
    const text = `${JSON.stringify(license, undefined, 2)}\n`;
    const inspected = this.#inspect(text);
    const fault = 'code' in inspected ? inspected : statusOf(inspected, this.#installation, this.#deps.now()).fault;
    if (fault !== undefined) {
      const extra = { installation: this.#installation.id };
      throw licenseError(fault.code, `The license was not installed: ${fault.detail}.`, { extra });
    }
    await this.#deps.file.write(text);
    await this.reload();
  }

  #inspect(text: string): LicenseTerms | UnusableLicense {
    const inspection = inspectLicense(text, this.#deps.keys);
    return 'terms' in inspection ? inspection.terms : inspection.fault;
  }

  /** Once for each change. */
  #say(): void {
    const { state, tier, terms, fault } = this.status();
    const said = [state, tier, terms?.id, fault?.code].join(' ');
    if (said === this.#lastSaid) return;
    this.#lastSaid = said;
    const facts = { state, tier, ...(terms !== undefined && { license: terms.id, expires_at: terms.expires_at ?? 'never' }) };
    if (fault !== undefined) this.#deps.log.warn(`the license is not used: ${fault.detail}`, { ...facts, code: fault.code });
    else if (state === 'active' || state === 'evaluation') this.#deps.log.info('license', facts);
    else this.#deps.log.warn('the license needs to be renewed', facts);
  }
}

function refusalSentence({ state, fault }: LicenseStatus): string {
  const unused = fault === undefined ? '' : ` The license file is not used: ${fault.detail}.`;
  const what = { not_yet_valid: 'The license is not valid yet', evaluation_ended: 'The evaluation is over' } as Record<
    string,
    string
  >;
  return `${what[state] ?? 'The license has expired'}: what is there goes on to work, and nothing can be added.${unused} Install a license with \`svc license install\`.`;
}
