/** Made conversations: one route is right from the first turn to the last, and now and then another one seems to be, for one turn. */
import type { RoutedConversation } from '../route-network.ts';

export function madeConversations(n: number, random: () => number, { nRoutes = 3, nTurns = 5 } = {}): RoutedConversation[] {
  return Array.from({ length: n }, () => {
    const right = Math.floor(random() * nRoutes);
    return Array.from({ length: nTurns }, () => {
      const isStray = random() < 0.35;
      const stray = (right + 1 + Math.floor(random() * (nRoutes - 1))) % nRoutes;
      const top = 0.6 + 0.3 * random();
      const leads = isStray ? stray : right;
      return {
        scores: Array.from({ length: nRoutes }, (_, route) => (route === leads ? top : (1 - top) / (nRoutes - 1))),
        right: [right],
      };
    });
  });
}
