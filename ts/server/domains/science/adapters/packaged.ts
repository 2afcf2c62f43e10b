/** The adapters that come with the program. Each is checked by a test, and so is not at every start. */
import type { Adapter } from './adapter.ts';
import ads from './sources/ads.json' with { type: 'json' };
import arxiv from './sources/arxiv.json' with { type: 'json' };
import chembl from './sources/chembl.json' with { type: 'json' };
import clinicaltrials from './sources/clinicaltrials.json' with { type: 'json' };
import crossref from './sources/crossref.json' with { type: 'json' };
import datacite from './sources/datacite.json' with { type: 'json' };
import doaj from './sources/doaj.json' with { type: 'json' };
import emsc from './sources/emsc.json' with { type: 'json' };
import ensembl from './sources/ensembl.json' with { type: 'json' };
import europepmc from './sources/europepmc.json' with { type: 'json' };
import eurostat from './sources/eurostat.json' with { type: 'json' };
import exoplanets from './sources/exoplanets.json' with { type: 'json' };
import gbif from './sources/gbif.json' with { type: 'json' };
import inspire from './sources/inspire.json' with { type: 'json' };
import metnorway from './sources/metnorway.json' with { type: 'json' };
import nasa from './sources/nasa.json' with { type: 'json' };
import nasaimages from './sources/nasaimages.json' with { type: 'json' };
import noaa from './sources/noaa.json' with { type: 'json' };
import openalex from './sources/openalex.json' with { type: 'json' };
import openfda from './sources/openfda.json' with { type: 'json' };
import openlibrary from './sources/openlibrary.json' with { type: 'json' };
import openmeteo from './sources/openmeteo.json' with { type: 'json' };
import pdb from './sources/pdb.json' with { type: 'json' };
import pubchem from './sources/pubchem.json' with { type: 'json' };
import pubmed from './sources/pubmed.json' with { type: 'json' };
import rhea from './sources/rhea.json' with { type: 'json' };
import simbad from './sources/simbad.json' with { type: 'json' };
import uniprot from './sources/uniprot.json' with { type: 'json' };
import usgs from './sources/usgs.json' with { type: 'json' };
import who from './sources/who.json' with { type: 'json' };
import wikidata from './sources/wikidata.json' with { type: 'json' };
import wikipedia from './sources/wikipedia.json' with { type: 'json' };
import worldbank from './sources/worldbank.json' with { type: 'json' };
import zenodo from './sources/zenodo.json' with { type: 'json' };

export const packagedAdapters = [
  ads,
  arxiv,
  chembl,
  clinicaltrials,
  crossref,
  datacite,
  doaj,
  emsc,
  ensembl,
  europepmc,
  eurostat,
  exoplanets,
  gbif,
  inspire,
  metnorway,
  nasa,
  nasaimages,
  noaa,
  openalex,
  openfda,
  openlibrary,
  openmeteo,
  pdb,
  pubchem,
  pubmed,
  rhea,
  simbad,
  uniprot,
  usgs,
  who,
  wikidata,
  wikipedia,
  worldbank,
  zenodo,
] as unknown as readonly Adapter[];
