/** Links to versions of an artifact that is kept. */
import { call } from '../../api/call.ts';
import { t } from '../../i18n/language.ts';
import { LinksDialog } from '../sharing/links-dialog.tsx';
import type { StoredArtifact } from './stored-artifact.ts';

export function ArtifactShareDialog({ kept: { id, version }, onClose }: { kept: StoredArtifact; onClose(): void }) {
  return (
    <LinksDialog
      detail={t('artifact_share_detail')}
      list={async () => (await call('GET /api/v1/artifacts/{id}', { params: { id } })).shares}
      make={() => call('POST /api/v1/artifacts/share/', { body: { id, version } })}
      end={(share) => call('DELETE /api/v1/artifacts/share/{share}', { params: { share } })}
      onClose={onClose}
    />
  );
}
