/** Refusals of the system module. */
import { defineErrors } from '../../platform/errors/define-errors.ts';

export const systemErrors = defineErrors('system', {
  invalid_setting: [400, 'The setting does not take this value.', 'The sentence says what it takes.'],
  job_not_found: [404, 'There is no such job, or it is not the caller’s.', 'GET /api/v1/system/jobs lists them.'],
  setting_not_found: [404, 'There is no such setting.', 'GET /api/v1/system/settings lists them.'],
  data_role_holds_data: [
    409,
    'Knowledge bases lie on this node alone, and nobody would find them.',
    'Export them or delete them, or say `force`: they stay on its disk.',
  ],
  setting_locked: [409, 'It is set where this cannot change it.', 'Change it where the sentence says.'],
  internal: [500, 'A module could not start or stop.', 'The log says why.'],
  model_loading: [503, 'The default model is being loaded.', 'Ask again in a moment.'],
  starting: [503, 'The node starts.', 'Wait: requests wait until its modules run.'],
});

export const systemError = systemErrors.error;
