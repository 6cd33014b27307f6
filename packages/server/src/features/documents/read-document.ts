import { isUnavailable, refuse } from '../../shared/app-error.ts'
import type { Needs } from '../deps.ts'
import type { Project, Version } from '../projects/project.ts'
import type { KnownText } from '../templates/template-engine.ts'
import {
  type CheckedText,
  checkText,
  describeChecked,
  describeKnown,
  inBatches,
  type LoadTexts,
  loadFromVersion,
} from './check-document.ts'
import type { Document, DocumentText, PromptVersion, UnresolvedDocument } from './document.ts'
import { isCreatablePath, normalizeDocumentPath, normalizePathPrefix, similarPaths } from './document-path.ts'
import type { VersionSet } from './ports.ts'
import { readTexts } from './read-texts.ts'
import {
  assertVisible,
  ownerOf,
  projectScope,
  type ReadableVersion,
  resolveVersion,
  type VersionAddress,
} from './version-ref.ts'

type Reads = Needs<'stores' | 'liveCache' | 'templates'>

/** A compiled prompt with everything that a run needs. A change of the project drops cached prompts. */
export interface PreparedPrompt extends CheckedText {
  project: Project
  version: Version
  /** Names the text in traces. */
  named: PromptVersion
  /** Parameter warnings that were already logged. Repeated requests log each warning only once. */
  loggedWarnings: Set<string>
}

type PromptAddress = ReadableVersion & { path: string }

export interface DocumentsPage {
  prefix?: string
  limit?: number
  /** The path of the last document of the previous page. */
  cursor?: string
}

/** Yields documents by path in code point order. @throws AppError NotFoundError for the project or the version. */
export async function* listDocuments(deps: Reads, input: VersionAddress & DocumentsPage): AsyncGenerator<Document> {
  const { version } = await resolveVersion(deps, input)
  const owner = ownerOf(input)
  const loading = withLoad(readPage(deps, input, version), loadFromVersion(deps, owner.workspaceId, version))
  const check = ({ text, load }: Loading) => checkText(deps, text, load, owner)
  for await (const checked of inBatches(deps, loading, owner, check)) yield describeChecked(version, checked)
}

/** Like `listDocuments`. Compiles only texts that this server has not compiled before with the same references. */
export async function* listUnresolved(
  deps: Reads,
  input: VersionAddress & DocumentsPage,
): AsyncGenerator<UnresolvedDocument> {
  const { version } = await resolveVersion(deps, input)
  const owner = ownerOf(input)
  const load = loadFromVersion(deps, owner.workspaceId, version)
  const loading = withKnown(deps, withLoad(readPage(deps, input, version), load), owner.workspaceId, version)
  const check = async ({ text, load, known }: Loading) =>
    describeKnown(version, text, known ?? (await checkText(deps, text, load, owner)).scan)
  yield* inBatches(deps, loading, owner, check)
}

function readPage(
  { stores }: Pick<Reads, 'stores'>,
  { caller, prefix, limit, cursor: after }: VersionAddress & DocumentsPage,
  version: Version,
): AsyncGenerator<DocumentText[]> {
  const filter = { prefix: prefix === undefined ? undefined : normalizePathPrefix(prefix), limit, after }
  return readTexts(stores, caller.workspaceId, version, filter)
}

interface Loading {
  text: DocumentText
  load: LoadTexts
  known?: KnownText | undefined
}

/** Adds to each text how its references are loaded: those of the same part need no statement. */
async function* withLoad(parts: AsyncIterable<readonly DocumentText[]>, load: LoadTexts): AsyncGenerator<Loading[]> {
  for await (const texts of parts) {
    const loadFirst = loadFirstFrom(texts, load)
    yield texts.map((text) => ({ text, load: loadFirst }))
  }
}

/** Adds the findings and facts of each text. Reads the hashes of all references of a part in one statement. */
async function* withKnown(
  { stores, templates: { known } }: Reads,
  parts: AsyncIterable<Loading[]>,
  workspaceId: number,
  version: Version,
): AsyncGenerator<Loading[]> {
  for await (const part of parts) {
    const paths = new Set(part.flatMap(({ text }) => [...known.pathsFor(workspaceId, text)]))
    const named = paths.size === 0 ? [] : await stores.documents.listNames(workspaceId, version, [...paths])
    const hashes = new Map(named.map(({ path, contentHash }) => [path, contentHash]))
    const hashAt = (path: string) => hashes.get(path)
    yield part.map(({ text, load }) => ({ text, load, known: known.find(workspaceId, text, hashAt) }))
  }
}

export async function readDocument(deps: Reads, input: PromptAddress): Promise<Document> {
  const prompt = await preparePrompt(deps, input)
  return describeChecked(prompt.version, prompt)
}

/** Reads through the cache. Compile errors are returned in `scan.errors`. @throws AppError NotFoundError. */
export async function preparePrompt(deps: Reads, input: PromptAddress): Promise<PreparedPrompt> {
  const found = await findPrompt(deps, input)
  if (found) return found
  const { version } = await resolveVersion(deps, input)
  throw await documentNotFound(deps, input.caller.workspaceId, version, normalizeDocumentPath(input.path))
}

/** Returns null for a path without a document. @throws AppError NotFoundError for the project or the version. */
export async function findPrompt(deps: Reads, input: PromptAddress): Promise<PreparedPrompt | null> {
  const { caller, projectId, versionRef, revision } = input
  assertVisible(caller, projectId)
  const path = normalizeDocumentPath(input.path)
  if (!isCreatablePath(path)) {
    await resolveVersion(deps, input)
    return null
  }
  const key = `prompt:${revision ?? ''}:${caller.workspaceId}:${versionRef.toLowerCase()}:${path}`
  for (;;) {
    let isOwn = false
    try {
      return await deps.liveCache.read(projectScope(projectId), key, () => {
        isOwn = true
        return loadPrompt(deps, input, path)
      })
    } catch (error) {
      // A shared load fails if its first caller disconnects or reaches a limit. Other callers retry.
      if (isOwn || !isUnavailable(error)) throw error
    }
  }
}

async function loadPrompt(deps: Reads, input: PromptAddress, path: string): Promise<PreparedPrompt | null> {
  const { project, version } = await resolveVersion(deps, input)
  const owner = ownerOf(input)
  const text = await deps.stores.documents.findOptional(owner.workspaceId, version, path)
  if (!text) return null
  const checked = await checkText(deps, text, loadFromVersion(deps, owner.workspaceId, version), owner)
  // The drop keeps this result out of the cache.
  if (checked.scan.isTemporary) deps.liveCache.dropHere(projectScope(project.id))
  const { uuid, number } = version
  const named = { uuid, number, contentHash: text.contentHash }
  return { project, version, named, ...checked, loggedWarnings: new Set() }
}

// Limits the candidates, so that suggestions stay cheap in a large project.
const guessedFrom = 1_000

export async function documentNotFound(
  deps: Needs<'stores'>,
  workspaceId: number,
  version: VersionSet,
  path: string,
): Promise<Error> {
  const paths = await deps.stores.documents.listPaths(workspaceId, version, guessedFrom)
  return refuse('unknown-document', { path, suggestions: similarPaths(path, paths, 3) })
}

function loadFirstFrom(texts: readonly DocumentText[], load: LoadTexts): LoadTexts {
  const byPath = new Map(texts.map((text) => [text.path, text]))
  return async (paths) => {
    const known = paths.flatMap((path) => byPath.get(path) ?? [])
    return known.length === paths.length ? known : load(paths)
  }
}
