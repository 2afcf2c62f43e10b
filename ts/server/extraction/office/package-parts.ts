/** The parts of an Office Open XML file (ECMA-376 part 2): which part follows from which by its relationships. */
import { posix } from 'node:path';
import { readXml, type XmlHandler } from '../archive/xml-reader.ts';
import type { ZipArchive } from '../archive/zip-archive.ts';
import type { ExtractionLimits } from '../extraction-limits.ts';

interface Relationship {
  id: string;
  /** The last segment of the type's address: `worksheet`, `slide`, `notesSlide`. */
  type: string;
  /** Name of the part. */
  target: string;
}

export class PackageParts {
  readonly #archive: ZipArchive;
  readonly #limits: ExtractionLimits;
  /** Names are compared without case (ECMA-376 part 2 section 6.2.2.3). */
  readonly #names: ReadonlyMap<string, string>;

  constructor(archive: ZipArchive, limits: ExtractionLimits) {
    this.#archive = archive;
    this.#limits = limits;
    this.#names = new Map(archive.names.map((name) => [name.toLowerCase(), name]));
  }

  has(name: string): boolean {
    return this.#names.has(name.toLowerCase());
  }

  async read(name: string, handler: XmlHandler): Promise<void> {
    const chunks = this.#archive.chunks(this.#names.get(name.toLowerCase()) ?? name);
    await readXml(chunks, handler, this.#limits);
  }

  /** Of parts that need not be there. */
  async readOptional(name: string | undefined, handler: XmlHandler): Promise<void> {
    if (name !== undefined && this.has(name)) await this.read(name, handler);
  }

  /** What a part points to inside the file; links to the outside are left out, and nothing follows them. */
  async relationships(name: string): Promise<Relationship[]> {
    const found: Relationship[] = [];
    const folder = posix.dirname(name);
    const listName = posix.join(folder, '_rels', `${posix.basename(name)}.rels`);
    await this.readOptional(listName, {
      open: (element, attributes) => {
        const { Id: id, Type: type, Target: target, TargetMode: mode } = attributes;
        if (element !== 'Relationship' || mode === 'External' || !id || !type || !target) return;
        const path = target.startsWith('/') ? target.slice(1) : posix.join(folder, target);
        found.push({ id, type: type.split('/').at(-1) ?? '', target: path });
      },
    });
    return found;
  }
}
