/** The module's routes: superadmins alone, since a backup holds what all tenants said. */
import Type from 'typebox';
import { scopeOf } from '../../platform/http/principal.ts';
import type { Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import { backupErrors } from './errors.ts';
import { Schedule } from './saved-choices.ts';
import {
  Backup,
  BackupDetails,
  BackupId,
  Destination,
  FOLDER,
  RestoreRequest,
  Restoring,
  ScheduleShape,
  Started,
  toBackup,
  toDetails,
} from './schemas.ts';
import type { BackupService } from './service.ts';

const path = '/api/v1/backup/backups';

const { get, post, put, del } = routes({ tag: 'Backup', auth: 'superadmin', maxBody: 1024, errors: backupErrors });

export function backupRoutes(service: BackupService): Route[] {
  return [...backups(service), restore(service), ...destination(service), ...schedule(service)];
}

function backups(service: BackupService): Route[] {
  return [
    get(path, {
      summary: 'List the backups of the destination, newest first',
      answer: Type.Object({ backups: Type.Array(Backup) }),
      errors: ['destination_unusable', 'invalid_destination', 'credentials_needed'],
      handle: async () => ({ backups: (await service.list()).map(toBackup) }),
    }),
    post(path, {
      summary: 'Make a backup, as a background job, while the node serves',
      answer: Started,
      status: 202,
      errors: [
        'passphrase_needed',
        'wrong_passphrase',
        'backup_damaged',
        'destination_unusable',
        'invalid_destination',
        'credentials_needed',
      ],
      handle: async ({ caller }) => ({ job_id: (await service.create(scopeOf(caller), caller.subject)).id }),
    }),
    get(`${path}/{id}`, {
      params: BackupId,
      summary: 'What a backup holds',
      answer: BackupDetails,
      errors: [...reading],
      handle: async ({ params }) => toDetails(await service.get(params.id)),
    }),
    post(`${path}/{id}/verify`, {
      params: BackupId,
      summary: 'Prove a backup by restoring it into a scratch folder, as a background job',
      answer: Started,
      status: 202,
      errors: [...reading],
      handle: async ({ params, caller }) => ({ job_id: (await service.verify(scopeOf(caller), params.id, caller.subject)).id }),
    }),
  ];
}

function restore(service: BackupService): Route {
  return post('/api/v1/backup/restore', {
    summary: "Put a backup into the place of the node's state; the node ends for it and is started again",
    body: RestoreRequest,
    answer: Restoring,
    status: 202,
    errors: [...reading, 'restore_by_command', 'restart_pending'],
    handle: async ({ body, caller }) => {
      const { job, backup } = await service.restore(scopeOf(caller), body.id, caller.subject);
      return { job_id: job.id, backup, next: NEXT };
    },
  });
}

const NEXT =
  'A background job lays the backup beside the data and proves it. Then the node lets open answers finish and ends with exit code 75; ' +
  'its next start has the state of the backup. A service manager starts it by itself, elsewhere start it again. What is written until then is lost.';

const reading = [
  'backup_not_found',
  'passphrase_needed',
  'wrong_passphrase',
  'backup_damaged',
  'destination_unusable',
  'invalid_destination',
  'credentials_needed',
] as const;

function destination(service: BackupService): Route[] {
  const shown = async () => {
    const { folder, kind, encrypted } = await service.destination();
    return { folder, kind, encrypted: encrypted ?? null };
  };
  const errors = ['invalid_destination', 'credentials_needed', 'backup_damaged', 'destination_unusable'] as const;
  return [
    get('/api/v1/backup/destination', {
      summary: 'Where backups go',
      answer: Destination,
      errors,
      handle: shown,
    }),
    put('/api/v1/backup/destination', {
      maxBody: 8192,
      summary: 'Name another folder, bucket or SFTP server for backups; those in the old one stay there',
      body: Type.Object({ folder: Type.String({ minLength: 1, maxLength: 4096, description: FOLDER }) }),
      answer: Destination,
      errors,
      handle: async ({ body }) => {
        await service.setDestination(body.folder);
        return shown();
      },
    }),
  ];
}

function schedule(service: BackupService): Route[] {
  const shown = async () => {
    const { hours, keep, isChosen, nextAt } = await service.schedule();
    const next = nextAt === undefined ? null : new Date(nextAt).toISOString();
    return { hours, keep, source: isChosen ? ('saved' as const) : ('settings' as const), next_at: next };
  };
  return [
    get('/api/v1/backup/schedule', {
      answer: ScheduleShape,
      errors: ['invalid_destination', 'destination_unusable', 'credentials_needed'],
      summary: 'When the node makes backups by itself, and how many it keeps',
      handle: shown,
    }),
    put('/api/v1/backup/schedule', {
      answer: ScheduleShape,
      errors: ['invalid_destination', 'destination_unusable', 'credentials_needed'],
      summary: 'Change the schedule, at once and for later starts',
      body: Schedule,
      handle: async ({ body }) => {
        await service.setSchedule(body);
        return shown();
      },
    }),
    del('/api/v1/backup/schedule', {
      answer: ScheduleShape,
      errors: ['invalid_destination', 'destination_unusable', 'credentials_needed'],
      summary: 'Go back to the schedule of the settings',
      handle: async () => {
        await service.setSchedule(undefined);
        return shown();
      },
    }),
  ];
}
