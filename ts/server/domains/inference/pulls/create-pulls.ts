/** The pulls of a node, as its settings and its environment want them. */
import { listOf, type SettingValues } from '../../../platform/config/setting.ts';
import type { Events } from '../../../platform/events/index.ts';
import type { Jobs } from '../../../platform/jobs/index.ts';
import { StartError } from '../../../platform/module/start-error.ts';
import { modelPulled } from '../events.ts';
import { findHubAddress, parseAllowedHost } from '../library/index.ts';
import type { inferenceSettings } from '../settings.ts';
import { ModelPulls } from './model-pulls.ts';

type PullSettings = Pick<SettingValues<typeof inferenceSettings>, 'models_dir' | 'models.mirror' | 'models.allowed_hosts'>;

/** Throws StartError, or LibraryError for a host that is none. */
export function createPulls(
  settings: PullSettings,
  env: NodeJS.ProcessEnv,
  { jobs, events }: { jobs: Jobs; events: Events },
  onPulled: () => void,
): ModelPulls {
  const hub = findHubAddress(settings['models.mirror'], env['HF_ENDPOINT']);
  if (!hub)
    throw new StartError('invalid_setting', 'HF_ENDPOINT is no http(s) address', 'correct it, or unset it to use huggingface.co');
  return new ModelPulls({
    jobs,
    modelsDir: settings.models_dir,
    hub,
    allowedHosts: listOf(settings['models.allowed_hosts']).map(parseAllowedHost),
    token: () => env['HF_TOKEN'],
    onPulled,
    tellPulled: (scope, model, job) => events.send(scope, modelPulled, { model, job }),
  });
}
