/** The part of this node in models over several nodes: it lends itself to those of others, and serves its own. */
import { parseListenAddress } from '../../../platform/config/listen-address.ts';
import type { Log } from '../../../platform/log/log.ts';
import type { Node } from '../../../platform/node/node.ts';
import type { InferenceApi } from '../../inference/index.ts';
import type { ClusterLink } from '../link/link.ts';
import { type AttachServer, SplitModels } from './split-models.ts';
import { SPLIT_PATH, TensorHost } from './tensor-host.ts';

interface SplittingParts {
  readonly node: Node;
  readonly log: Log;
  readonly links: ClusterLink;
  readonly split: InferenceApi['split'];
  /** Undefined: this node serves no such model. */
  readonly attach: AttachServer | undefined;
  /** The setting `cluster.listen`. */
  readonly listen: string;
}

export class Splitting {
  readonly #tensorHost: TensorHost;
  readonly #models: SplitModels | undefined;

  constructor({ node, log, links, split, attach, listen }: SplittingParts) {
    const { programs, port, models } = split;
    const { installRoot } = node;
    const certificate = () => links.certificate;
    const { host } = parseListenAddress(listen);
    const tensorHost = new TensorHost({ log, programs, port, installRoot, host, certificate });
    this.#tensorHost = tensorHost;
    links.answerAt(SPLIT_PATH, (request) => tensorHost.answer(request));
    links.onTrust((nodes) => tensorHost.trust(nodes));
    if (models.length === 0) return;
    if (attach === undefined) {
      log.warn('inference.split serves nothing: the module cloud, which asks llama-server, does not run on this node');
      return;
    }
    this.#models = new SplitModels({
      log,
      models,
      attach,
      nodeId: () => node.id,
      nodeName: node.name,
      tensorHost,
      programs,
      installRoot,
      address: () => links.address,
      certificate,
      peers: () => links.peers,
    });
    this.#models.start();
  }

  async stop(): Promise<void> {
    await this.#models?.stop();
    await this.#tensorHost.stop();
  }
}
