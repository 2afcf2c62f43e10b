/** The package has no types of its own: these are of what the tests use. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  interface Interaction {
    prompt: { name: 'login' | 'consent' };
    params: { client_id: string };
    session?: { accountId: string };
  }

  interface Grant {
    addOIDCScope(scope: string): void;
    save(): Promise<string>;
  }

  interface AccessToken {
    resourceServer: object;
    setAudience(audience: string): void;
    save(): Promise<string>;
  }

  // biome-ignore lint/style/noDefaultExport: the package has one
  export default class Provider {
    constructor(issuer: string, configuration: object);
    readonly Grant: new (of: {
      accountId: string;
      clientId: string;
    }) => Grant;
    readonly Client: { find(id: string): Promise<object> };
    readonly AccessToken: new (
      of: object,
    ) => AccessToken;
    readonly ResourceServer: new (
      identifier: string,
      data: object,
    ) => object;
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
  }
}
