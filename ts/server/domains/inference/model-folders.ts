/** Finds where model files lie: the operator's folder, the one that ships with the program, and a file that was named. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { SettingValues } from '../../platform/config/setting.ts';
import { ModelLibrary } from './library/index.ts';
import type { inferenceSettings } from './settings.ts';

type FolderSettings = Pick<SettingValues<typeof inferenceSettings>, 'models_dir' | 'default_model' | 'models.shipped'>;

/** The models that the server sees, for commands that work on the folder without one. */
export function openModelLibrary(settings: FolderSettings, installRoot: string): ModelLibrary {
  return new ModelLibrary(modelFolders(settings, installRoot));
}

function modelFolders(settings: FolderSettings, installRoot: string) {
  return {
    modelsDir: settings.models_dir,
    ...(settings['models.shipped'] ? { shippedDir: join(installRoot, 'models') } : {}),
    files: namedModelFile(settings),
  };
}

/** The GGUF file that `default_model` names by its path, from anywhere. */
export function namedModelFile({ default_model: named }: Pick<FolderSettings, 'default_model'>): string[] {
  return isModelPath(named) ? [resolve(named)] : [];
}

export function isModelPath(named: string): boolean {
  return named.includes('/') || (/\.gguf$/i.test(named) && existsSync(named));
}
