/** The swarm module: goals that a plan reaches step by step, by one agent or a swarm of them, and that survive a crash. */
import { defineModule } from '../../platform/module/module.ts';
import { swarmSettings } from './settings.ts';
import { swarmMigrations } from './tables.ts';

export const swarm = defineModule({
  name: 'swarm',
  settings: swarmSettings,
  migrations: swarmMigrations,
  create: async (context) => (await import('./swarm-module.ts')).createSwarm(context),
});
