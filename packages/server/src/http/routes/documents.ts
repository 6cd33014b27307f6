import { hash } from 'node:crypto'
import type { contract } from '@stet/contract'
import { unknownModel } from '@stet/template/unknown-model'
import type { Request, Response } from 'express'
import { checkPrompt } from '../../features/checks/check-prompt.ts'
import type { Document } from '../../features/documents/document.ts'
import { mergeDocuments } from '../../features/documents/merge/merge-documents.ts'
import { listDocuments, listUnresolved, readDocument } from '../../features/documents/read-document.ts'
import {
  createDocument,
  createOrUpdateDocument,
  deleteDocument,
  getOrCreateDocument,
} from '../../features/documents/save-document.ts'
import { resolveVersion } from '../../features/documents/version-ref.ts'
import { listProviders, type ProviderEntry } from '../../features/providers/list-providers.ts'
import { type Choice, chooseProvider } from '../../features/providers/resolve-provider.ts'
import { type MovedDocument, moveDocument } from '../../features/versions/push/move-document.ts'
import { RunError } from '../../shared/app-error.ts'
import { checkBody, type ProviderFacts } from '../../wire/check.ts'
import { documentBody, movedBody, unresolvedBody } from '../../wire/document.ts'
import { clientBody } from '../../wire/legacy-clients.ts'
import { callerOf, contextOf, whileOpen } from '../auth/request-context.ts'
import { preconditions, revisionAddress, versionAddress } from '../body/address.ts'
import type { HttpDeps } from '../http-deps.ts'
import { onlyOnce } from '../idempotency/only-once.ts'
import type { Routes } from '../mount.ts'
import type { UnreadBudget } from '../rate-limit/unread-budget.ts'
import { itemList, RawResponse } from '../raw-response.ts'

type Address = ReturnType<typeof addressOf>

const maxListBytes = 67_108_864

export function documentRoutes(deps: HttpDeps, unread: UnreadBudget): Routes<typeof contract.documents> {
  return {
    list: async ({ params, query: { resolved = true, ...page }, res }) => {
      const address = { ...addressOf(params, res), ...revisionAddress(params) }
      const { apiKeyId } = address.caller
      const factsOf = await providerFacts(deps, address)
      const input = { ...page, ...address }
      const items = async function* () {
        if (resolved) for await (const each of listDocuments(deps, input)) yield documentBody(each, factsOf(each))
        else for await (const each of listUnresolved(deps, input)) yield unresolvedBody(each, factsOf(each))
      }
      const body = await itemList(unread, { res, apiKeyId }, { items, bodyOf: (all) => all, mostBytes: maxListBytes })
      return { status: 200, body }
    },
    create: creating(deps, createDocument),
    get: async ({ params, req, res }) => {
      const address = { ...addressOf(params, res), ...revisionAddress(params) }
      const document = await readDocument(deps, { ...address, path: params.path })
      const factsOf = await providerFacts(deps, address)
      res.set(cacheHeaders(document))
      const body = documentBody(document, factsOf(document))
      const isKnown = matchesEtag(req.headers['if-none-match'], etagOf(document))
      return { status: 200, body: isKnown ? new RawResponse((to) => void to.writeHead(304).end()) : body }
    },
    getOrCreate: creating(deps, getOrCreateDocument),
    createOrUpdate: async ({ params, body, req, res }) =>
      saveOnce(deps, { params, req, res }, (own, address) => {
        const { prompt: content, ...rest } = body
        return createOrUpdateDocument(own, { ...rest, content, ...preconditions(req), ...address })
      }),
    delete: async ({ params, req, res }) => {
      const { ifMatch } = preconditions(req)
      const address = addressOf(params, res)
      const input = { ...address, path: params.path, ...(ifMatch === undefined ? {} : { ifMatch }) }
      const { documentUuid, path } = await deleteDocument(deps, input)
      return { status: 200, body: { documentUuid, path } }
    },
    move: async ({ params, body, req, res }) => {
      let factsOf: Awaited<ReturnType<typeof providerFacts>>
      const bodyOf = (moved: MovedDocument) => movedBody(moved, factsOf(moved))
      return onlyOnce(deps, { req, res, status: 200, bodyOf, headersOf: cacheHeaders }, async (own) => {
        const address = addressOf(params, res)
        factsOf = await providerFacts(own, address)
        return moveDocument(own, { ...body, ...address })
      })
    },
    merge: async ({ params, body, res }) => {
      return { status: 200, body: await mergeDocuments(deps, { ...body, ...addressOf(params, res) }) }
    },
    check: async ({ params, body, res }) => {
      const address = addressOf(params, res)
      const check = await checkPrompt(deps, { ...body, ...address })
      const factsOf = await providerFacts(deps, address)
      return {
        status: 200,
        body: clientBody(
          contextOf(res).legacyClient,
          checkBody(check, factsOf({ ...check.source, config: check.config })),
        ),
      }
    },
  }
}

interface SaveCall {
  params: { projectId: string; versionUuid: string }
  req: Request
  res: Response
}

function creating(deps: HttpDeps, create: typeof createDocument) {
  return async ({ body, ...call }: SaveCall & { body: { path: string; prompt: string } }) =>
    saveOnce(deps, call, (own, address) => create(own, { ...address, path: body.path, content: body.prompt }))
}

function saveOnce(
  deps: HttpDeps,
  { params, req, res }: SaveCall,
  save: (own: HttpDeps, address: Address) => Promise<Document>,
) {
  let factsOf: Awaited<ReturnType<typeof providerFacts>>
  const bodyOf = (document: Document) => documentBody(document, factsOf(document))
  return onlyOnce(deps, { req, res, status: 200, bodyOf, headersOf: cacheHeaders }, async (own) => {
    const address = addressOf(params, res)
    // Read before the write, because the body is built within the transaction.
    factsOf = await providerFacts(own, address)
    return save(own, address)
  })
}

function addressOf(params: { projectId: string; versionUuid: string }, res: Response) {
  return { caller: callerOf(res), ...versionAddress(params), signal: whileOpen(res) }
}

function cacheHeaders(document: Document) {
  return { ETag: etagOf(document), 'Cache-Control': 'private, no-cache' }
}

/** Returns a function that finds what the provider key says about a prompt. */
async function providerFacts(
  deps: HttpDeps,
  address: Address,
): Promise<(prompt: Pick<Document, 'path' | 'content' | 'config'>) => ProviderFacts> {
  const { project } = await resolveVersion(deps, address)
  const entries = await listProviders(deps, address.caller.workspaceId)
  const defaults = {
    projectDefault: project.defaultProvider,
    serverDefault: deps.providers.environment.defaultProvider,
  }
  return ({ path, content, config: { provider, model } }) => {
    const entry = providerOf(entries, { ...defaults, named: typeof provider === 'string' ? provider : undefined })
    if (!entry || typeof model !== 'string') return { kind: entry?.kind, issues: [] }
    const { url, configuration } = entry.key
    const found = deps.providers.prices.findUnknown({ ...entry, url, configuration }, model, deps.clock.now())
    const issues = found ? [unknownModel({ path, content }, { model, provider: entry.name, ...found })] : []
    return { kind: entry.kind, issues }
  }
}

/** If the text has references, also hashes the resolved content, so that a changed reference changes the ETag. */
function etagOf({ contentHash, resolvedContent, hasReferences }: Document): string {
  if (!hasReferences) return `"${contentHash}"`
  return `"${contentHash}.${hash('sha256', resolvedContent).slice(0, 16)}"`
}

/** Compares weakly, as RFC 9110, 13.1.2 requires: `W/"x"` matches `"x"`. */
function matchesEtag(header: string | undefined, etag: string): boolean {
  const tags = header?.split(',').map((part) => part.trim()) ?? []
  return tags.some((tag) => tag === '*' || tag === etag || tag === `W/${etag}`)
}

function providerOf(entries: readonly ProviderEntry[], choice: Choice): ProviderEntry | undefined {
  try {
    return chooseProvider(entries, choice)
  } catch (error) {
    if (error instanceof RunError) return undefined
    throw error
  }
}
