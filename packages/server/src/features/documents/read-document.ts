/** Reads documents of a version and compiles them. */

import { isUnavailable, refuse } from '../../shared/app-error.ts'
import type { Needs } from '../deps.ts'
import type { Project, Version } from '../projects/project.ts'
import {
  type CheckedText,
  checkText,
  checkTexts,
  describeChecked,
  type LoadTexts,
  loadFromTexts,
  loadFromVersion,
} from './check-document.ts'
import type { Document, DocumentText } from './document.ts'
import { isCreatablePath, normalizeDocumentPath, normalizePathPrefix, similarPaths } from './document-path.ts'
import {
  assertVisible,
  ownerOf,
  projectScope,
  type ReadableVersion,
  resolveVersion,
  type VersionAddress,
} from './version-ref.ts'

type Reads = Needs<'stores' | 'liveCache' | 'templates'>

/** A prompt of a version with everything that a run of it needs: read and compiled once, kept until its project changes. */
export interface PreparedPrompt extends CheckedText {
  project: Project
  version: Version
  /** Warnings about its parameters that the log already has, so that repeated requests are logged once. */
  loggedWarnings: Set<string>
}

type PromptAddress = ReadableVersion & { path: string }

/** Ordered by path in code point order. @throws AppError NotFoundError for the project or the version. */
export async function listDocuments(deps: Reads, input: VersionAddress & { prefix?: string }): Promise<Document[]> {
  const { version } = await resolveVersion(deps, input)
  const { workspaceId } = input.caller
  const prefix = input.prefix === undefined ? undefined : normalizePathPrefix(input.prefix)
  const texts = await deps.stores.documents.list(workspaceId, version, prefix)
  const checked = await checkTexts(
    deps,
    texts,
    loadFirstFrom(texts, loadFromVersion(deps, workspaceId, version)),
    ownerOf(input),
  )
  return checked.map((text) => describeChecked(version, text))
}

/** @throws AppError NotFoundError for the project, the version or the document. */
export async function readDocument(deps: Reads, input: PromptAddress): Promise<Document> {
  return describePrompt(await preparePrompt(deps, input))
}

/**
 * Costs no statement when warm. A text that does not compile is returned, with its errors.
 * @throws AppError NotFoundError for the project, the version or the document.
 */
export async function preparePrompt(deps: Reads, input: PromptAddress): Promise<PreparedPrompt> {
  const found = await findPrompt(deps, input)
  if (found) return found
  const { version } = await resolveVersion(deps, input)
  throw await documentNotFound(deps, input.caller.workspaceId, version, normalizeDocumentPath(input.path))
}

/** Null if the version has no document at the path. @throws AppError NotFoundError for the project or the version. */
export async function findPrompt(deps: Reads, input: PromptAddress): Promise<PreparedPrompt | null> {
  const { caller, projectId, versionRef } = input
  assertVisible(caller, projectId)
  const path = normalizeDocumentPath(input.path)
  if (!isCreatablePath(path)) {
    await resolveVersion(deps, input)
    return null
  }
  const key = `prompt:${caller.workspaceId}:${versionRef.toLowerCase()}:${path}`
  for (;;) {
    let isOwn = false
    try {
      return await deps.liveCache.read(projectScope(projectId), key, () => {
        isOwn = true
        return loadPrompt(deps, input, path)
      })
    } catch (error) {
      // The refusal of a shared load concerns only the caller that started it, which left or reached a limit.
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
  // A worker process that died says nothing about the text. A drop during the load keeps the result out of the cache.
  if (checked.scan.errors.some(({ code }) => code === 'limit-exceeded')) deps.liveCache.drop(projectScope(project.id))
  return { project, version, ...checked, loggedWarnings: new Set() }
}

export function describePrompt(prompt: PreparedPrompt): Document {
  return describeChecked(prompt.version, prompt)
}

// Limits the guesses, so that a wrong path stays cheap in a large project.
const guessedFrom = 1_000

/** The error for a path without a document, with similar paths. */
export async function documentNotFound(
  deps: Needs<'stores'>,
  workspaceId: number,
  version: Version,
  path: string,
): Promise<Error> {
  const paths = await deps.stores.documents.listPaths(workspaceId, version, guessedFrom)
  return refuse('unknown-document', { path, suggestions: similarPaths(path, paths, 3) })
}

function loadFirstFrom(texts: readonly DocumentText[], load: LoadTexts): LoadTexts {
  const loadKnown = loadFromTexts(texts)
  return async (paths) => {
    const known = await loadKnown(paths)
    return known.length === paths.length ? known : load(paths)
  }
}
