/** The module's routes: superadmins alone, since a backup holds what all tenants said. */
import Type from 'typebox';
import { scopeOf } from '../../platform/http/principal.ts';
import { type BytesReply, json, type Route, route } from '../../platform/http/route.ts';
import { errorSpecs } from './errors.ts';
import { Schedule } from './kept-choices.ts';
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

const tag = 'Backup';
const shared = { auth: 'superadmin', tag } as const;
const path = '/api/v1/backup/backups';

export function backupRoutes(service: BackupService): Route[] {
  return [...backups(service), restore(service), ...destination(service), ...schedule(service)];
}

function backups(service: BackupService): Route[] {
  return [
    route({
      ...shared,
      method: 'GET',
      path,
      maxBody: 0,
      summary: 'List the backups of the destination, newest first',
      responses: { 200: Type.Object({ backups: Type.Array(Backup) }) },
      errors: errorSpecs('destination_unusable', 'invalid_destination', 'credentials_needed'),
      handle: async () => json(200, { backups: (await service.list()).map(toBackup) }),
    }),
    route({
      ...shared,
      method: 'POST',
      path,
      maxBody: 0,
      summary: 'Make a backup, as a background job, while the node serves',
      responses: { 202: Started },
      errors: errorSpecs(
        'passphrase_needed',
        'wrong_passphrase',
        'backup_damaged',
        'destination_unusable',
        'invalid_destination',
        'credentials_needed',
      ),
      handle: async ({ caller }) => json(202, { job_id: (await service.create(scopeOf(caller), caller.subject)).id }),
    }),
    route({
      ...shared,
      method: 'GET',
      path: `${path}/{id}`,
      maxBody: 0,
      params: BackupId,
      summary: 'What a backup holds',
      responses: { 200: BackupDetails },
      errors: errorSpecs(...reading),
      handle: async ({ params }) => json(200, toDetails(await service.get(params.id))),
    }),
    route({
      ...shared,
      method: 'POST',
      path: `${path}/{id}/verify`,
      maxBody: 0,
      params: BackupId,
      summary: 'Prove a backup by restoring it into a scratch folder, as a background job',
      responses: { 202: Started },
      errors: errorSpecs(...reading),
      handle: async ({ params, caller }) =>
        json(202, { job_id: (await service.verify(scopeOf(caller), params.id, caller.subject)).id }),
    }),
  ];
}

function restore(service: BackupService): Route {
  return route({
    ...shared,
    method: 'POST',
    path: '/api/v1/backup/restore',
    maxBody: 1024,
    summary: "Put a backup into the place of the node's state; the node ends for it and is started again",
    body: RestoreRequest,
    responses: { 202: Restoring },
    errors: errorSpecs(...reading, 'restore_by_command', 'restart_pending'),
    handle: async ({ body, caller }) => {
      const { job, backup } = await service.restore(scopeOf(caller), body.id, caller.subject);
      return json(202, { job_id: job.id, backup, next: NEXT });
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
    return json(200, { folder, kind, encrypted: encrypted ?? null });
  };
  const errors = errorSpecs('invalid_destination', 'credentials_needed', 'backup_damaged', 'destination_unusable');
  return [
    route({
      ...shared,
      method: 'GET',
      path: '/api/v1/backup/destination',
      maxBody: 0,
      summary: 'Where backups go',
      responses: { 200: Destination },
      errors,
      handle: shown,
    }),
    route({
      ...shared,
      method: 'PUT',
      path: '/api/v1/backup/destination',
      maxBody: 8192,
      summary: 'Name another folder, bucket or SFTP server for backups; those in the old one stay there',
      body: Type.Object({ folder: Type.String({ minLength: 1, maxLength: 4096, description: FOLDER }) }),
      responses: { 200: Destination },
      errors,
      handle: async ({ body }) => {
        await service.setDestination(body.folder);
        return shown();
      },
    }),
  ];
}

function schedule(service: BackupService): Route[] {
  const shown = async (): Promise<BytesReply> => {
    const { hours, keep, isChosen, nextAt } = await service.schedule();
    const next = nextAt === undefined ? null : new Date(nextAt).toISOString();
    return json(200, { hours, keep, source: isChosen ? 'saved' : 'settings', next_at: next });
  };
  const common = {
    ...shared,
    path: '/api/v1/backup/schedule',
    responses: { 200: ScheduleShape },
    errors: errorSpecs('invalid_destination', 'destination_unusable', 'credentials_needed'),
  } as const;
  return [
    route({
      ...common,
      method: 'GET',
      maxBody: 0,
      summary: 'When the node makes backups by itself, and how many it keeps',
      handle: shown,
    }),
    route({
      ...common,
      method: 'PUT',
      maxBody: 1024,
      summary: 'Change the schedule, at once and for later starts',
      body: Schedule,
      handle: async ({ body }) => {
        await service.setSchedule(body);
        return shown();
      },
    }),
    route({
      ...common,
      method: 'DELETE',
      maxBody: 0,
      summary: 'Go back to the schedule of the settings',
      handle: async () => {
        await service.setSchedule(undefined);
        return shown();
      },
    }),
  ];
}
