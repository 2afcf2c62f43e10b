/** The renderer of markdown comes behind the first drawing of the page; until then a text stands as it was written. */
import { signal } from '@preact/signals';

type Renderer = typeof import('./drawing.ts');

export const renderer = signal<Renderer | undefined>(undefined);
let isLoading = false;

/** A failure is tried again when the next text is shown. */
export function loadRenderer(): void {
  if (isLoading || renderer.value !== undefined) return;
  isLoading = true;
  import('./drawing.ts')
    .then(
      (loaded) => {
        renderer.value = loaded;
      },
      () => undefined,
    )
    .finally(() => {
      isLoading = false;
    });
}
