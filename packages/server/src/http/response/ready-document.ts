/** Answers of `GET document`, kept as ready text: a warm one costs neither a statement nor an encoding. */
import type { ServerResponse } from 'node:http'
import type { Caller } from '../../features/access/caller.ts'
import type { Document } from '../../features/documents/document.ts'
import { readDocument, recallDocument } from '../../features/documents/read-document.ts'
import { resolveVersion } from '../../features/documents/version-ref.ts'
import type { Project } from '../../features/projects/project.ts'
import { chooseProvider } from '../../features/providers/choose-provider.ts'
import { listProviders, type ProviderEntry, recallProviders } from '../../features/providers/list-providers.ts'
import { RunError } from '../../shared/app-error.ts'
import type { HttpDeps } from '../http-deps.ts'
import { documentBody } from '../wire/document.ts'

export interface ReadyDocument {
  etag: string
  /** A text, not a buffer: Node sends it in one write together with the head. */
  body: string
  bytes: number
  /** The list that `body` was made with; a changed list is another object. */
  providers: readonly ProviderEntry[]
}

export interface DocumentAddress {
  caller: Caller
  projectId: number
  versionRef: string
  path: string
  signal?: AbortSignal
}

export interface ReadyDocuments {
  /** @throws AppError NotFoundError. */
  read(address: DocumentAddress): Promise<ReadyDocument>
  /** The same, when all that it is made of is in memory, and so is the answer. */
  recall(address: DocumentAddress): ReadyDocument | undefined
}

/** Reads through what it has encoded: a document stays the same object until something in its project changes. */
export function readyDocumentReader(deps: HttpDeps): ReadyDocuments {
  const encoded = new WeakMap<Document, ReadyDocument>()
  const recallEncoded = (document: Document, providers: readonly ProviderEntry[]): ReadyDocument | undefined => {
    const known = encoded.get(document)
    return known?.providers === providers ? known : undefined
  }
  return {
    async read(address) {
      const document = await readDocument(deps, address)
      const providers = await listProviders(deps, address.caller.workspaceId)
      const known = recallEncoded(document, providers)
      if (known) return known
      const { project } = await resolveVersion(deps, address)
      const body = JSON.stringify(documentBody(document, documentProvider(deps, document, project, providers)))
      const ready = { etag: etagOf(document), body, bytes: Buffer.byteLength(body), providers }
      encoded.set(document, ready)
      return ready
    },
    recall(address) {
      const document = recallDocument(deps, address)
      const providers = document && recallProviders(deps, address.caller.workspaceId)
      return providers && recallEncoded(document, providers)
    },
  }
}

/** 304 when the caller has this content already, else the text. */
export function writeReadyDocument(res: ServerResponse, ready: ReadyDocument, ifNoneMatch: string | undefined): void {
  res.setHeader('ETag', ready.etag)
  res.setHeader('Cache-Control', 'private, no-cache')
  if (ifNoneMatch !== undefined && matchesEtag(ifNoneMatch, ready.etag)) {
    res.writeHead(304).end()
    return
  }
  res.setHeader('Content-Type', 'application/json; charset=utf-8')
  res.setHeader('Content-Length', ready.bytes)
  res.end(ready.body)
}

export function etagOf(document: Pick<Document, 'contentHash'>): string {
  return `"${document.contentHash}"`
}

/** Whether an `If-None-Match` header names the tag; weak tags count as the strong ones they are made of. */
function matchesEtag(header: string, etag: string): boolean {
  return header.split(',').some((part) => {
    const tag = part.trim()
    return tag === '*' || tag === etag || tag === `W/${etag}`
  })
}

/** The kind of the entry that a document's runs would use; undefined when none fits. */
export function documentProvider(
  deps: Pick<HttpDeps, 'environmentProviders'>,
  document: Pick<Document, 'config'>,
  project: Pick<Project, 'defaultProvider'>,
  providers: readonly ProviderEntry[],
): string | undefined {
  const named = document.config['provider']
  try {
    return chooseProvider(providers, {
      named: typeof named === 'string' ? named : undefined,
      projectDefault: project.defaultProvider,
      serverDefault: deps.environmentProviders.defaultProvider,
    }).kind
  } catch (error) {
    if (error instanceof RunError) return undefined
    throw error
  }
}
