/** What came out of a chat and is kept by itself: a page, a drawing, a program, in versions. Times are milliseconds since 1970. */

export const ARTIFACT_KINDS = ['html', 'svg', 'markdown', 'mermaid', 'code'] as const;
export type ArtifactKind = (typeof ARTIFACT_KINDS)[number];

export interface Artifact {
  readonly id: string;
  readonly title: string;
  readonly kind: ArtifactKind;
  /** Of code. */
  readonly language: string | undefined;
  /** The conversation that it was made in, with which it is erased. */
  readonly conversationId: string | undefined;
  readonly createdAt: number;
  /** Of the last version. */
  readonly updatedAt: number;
  /** Versions are counted from 1. */
  readonly lastVersion: number;
}

export interface ArtifactVersion {
  readonly version: number;
  readonly messageId: string | undefined;
  readonly createdAt: number;
}

export interface ArtifactContent extends ArtifactVersion {
  readonly content: string;
}

/** An artifact with one version's content, and what other versions and links it has. */
export interface ArtifactDetail {
  readonly artifact: Artifact;
  readonly shown: ArtifactContent;
  readonly versions: readonly ArtifactVersion[];
  readonly shares: readonly ArtifactShare[];
}

export interface NewArtifact {
  readonly id: string;
  readonly title: string;
  readonly kind: ArtifactKind;
  readonly language?: string | undefined;
  readonly conversationId?: string | undefined;
  readonly messageId?: string | undefined;
  readonly content: string;
  readonly createdAt: number;
}

export interface NewVersion {
  readonly content: string;
  readonly messageId?: string | undefined;
  readonly createdAt: number;
}

/** A version that everybody of the tenant may read under a link. */
export interface ArtifactShare {
  readonly id: string;
  readonly version: number;
  readonly createdAt: number;
}

/** The last one of the page before, in the order of the list. */
export interface ArtifactCursor {
  readonly updatedAt: number;
  readonly id: string;
}
