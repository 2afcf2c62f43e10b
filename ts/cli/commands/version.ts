import { VERSION } from '../../server/product.ts';
import { command } from '../command.ts';

export const version = command({
  words: ['version'],
  summary: 'Print the version',
  async run({ terminal }) {
    const { node } = process.versions;
    const { platform, arch } = process;
    terminal.result({ version: VERSION, node, platform, arch }, `svc ${VERSION} (Node ${node}, ${platform} ${arch})`);
    return 'ok';
  },
});
