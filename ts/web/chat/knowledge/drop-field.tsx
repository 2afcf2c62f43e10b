/** Takes files for a knowledge base and shows what becomes of each. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { Icon } from '../../design/icon.tsx';
import { Progress } from '../../design/progress.tsx';
import { t } from '../../i18n/language.ts';
import { explain } from '../../session/explain.ts';
import { type UploadOutcome, type UploadProgress, uploadFile } from '../files/upload.ts';
import { newId } from '../thread/message.ts';
import { loadBases } from './bases.ts';

interface Added {
  id: string;
  name: string;
  progress: UploadProgress;
  outcome?: UploadOutcome;
  refusal?: string;
}

export function DropField({ namespace, onAdded }: { namespace: string; onAdded(): void }) {
  const [added, setAdded] = useState<readonly Added[]>([]);
  const [isOver, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const stop = useRef(new AbortController());
  useEffect(() => {
    stop.current = new AbortController();
    return () => stop.current.abort();
  }, []);
  const update = (id: string, changes: Partial<Added>): void =>
    setAdded((all) => all.map((each) => (each.id === id ? { ...each, ...changes } : each)));
  /** One after the other: together they would only wait for each other on the server. */
  const take = async (files: readonly File[]): Promise<void> => {
    const entries = files.map((file) => ({ file, id: newId(), name: file.name }));
    const progress = { step: 'sending', share: 0 } as const;
    setAdded((all) => [...all, ...entries.map(({ id, name }) => ({ id, name, progress }))]);
    for (const { file, id } of entries) {
      const { signal } = stop.current;
      try {
        const outcome = await uploadFile(file, { namespace, signal, onProgress: (now) => update(id, { progress: now }) });
        update(id, { outcome });
        onAdded();
      } catch (error) {
        if (signal.aborted) return;
        update(id, { refusal: explain(error) || t('file_refused') });
      }
    }
    await loadBases();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: files are dropped on it; the button inside does the same by keyboard
    <div
      class={isOver ? 'drop-field over' : 'drop-field'}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        event.stopPropagation();
        setOver(false);
        void take([...(event.dataTransfer?.files ?? [])]);
      }}
    >
      <div class="row">
        <Icon name="upload" />
        <span>{t('drop_files')}</span>
        <Button class="push" look="plain" onClick={() => input.current?.click()}>
          {t('choose_files')}
        </Button>
        <input
          ref={input}
          type="file"
          multiple
          hidden
          aria-label={t('choose_files')}
          onChange={(event) => void take([...(event.currentTarget.files ?? [])])}
        />
      </div>
      <ul class="rows" aria-label={t('files')}>
        {added.map((file) => (
          <AddedRow key={file.id} file={file} />
        ))}
      </ul>
    </div>
  );
}

function AddedRow({ file: { name, progress, outcome, refusal } }: { file: Added }) {
  const isDone = outcome !== undefined || refusal !== undefined;
  const { step, share } = progress;
  return (
    <li>
      <Icon name={refusal !== undefined ? 'alert' : isDone ? 'check' : 'file'} />
      <div class="grow">
        <span>{name}</span>
        {!isDone && <Progress label={t(step === 'indexing' ? 'file_indexing' : 'file_sending', { name })} value={share} />}
        <span class="small quiet excerpt" role={refusal === undefined ? undefined : 'alert'}>
          {refusal ??
            (outcome === undefined ? t(step) : outcome.state === 'stored' ? (outcome.detail ?? t('stored_only')) : t('indexed'))}
        </span>
      </div>
    </li>
  );
}
