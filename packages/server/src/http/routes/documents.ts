import { hash } from 'node:crypto'
import type { contract } from '@stet/contract'
import type { Document as DocumentBody } from '@stet/contract/vocabulary'
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
import { RunError } from '../../shared/app-error.ts'
import { checkBody } from '../../wire/check.ts'
import { documentBody, unresolvedBody } from '../../wire/document.ts'
import { clientBody } from '../../wire/legacy-clients.ts'
import { callerOf, contextOf, whileOpen } from '../auth/request-context.ts'
import { preconditions, versionAddress } from '../body/address.ts'
import type { HttpDeps } from '../http-deps.ts'
import { onlyOnce } from '../idempotency/only-once.ts'
import type { Routes } from '../mount.ts'
import type { UnreadBudget } from '../rate-limit/unread-budget.ts'
import { itemList, RawResponse } from '../raw-response.ts'

type Address = ReturnType<typeof addressOf>

const mostListBytes = 67_108_864

export function documentRoutes(deps: HttpDeps, unread: UnreadBudget): Routes<typeof contract.documents> {
  return {
    list: async ({ params, query: { resolved = true, ...page }, res }) => {
      const address = addressOf(params, res)
      const { apiKeyId } = address.caller
      const kindOf = await providerKinds(deps, address)
      const input = { ...page, ...address }
      const items = async function* () {
        if (resolved) for await (const each of listDocuments(deps, input)) yield documentBody(each, kindOf(each.config))
        else for await (const each of listUnresolved(deps, input)) yield unresolvedBody(each, kindOf(each.config))
      }
      const body = await itemList(unread, { res, apiKeyId }, { items, bodyOf: (all) => all, mostBytes: mostListBytes })
      return { status: 200, body }
    },
    create: creating(deps, createDocument),
    get: async ({ params, req, res }) => {
      const address = addressOf(params, res)
      const document = await readDocument(deps, { ...address, path: params.path })
      const body = tagged(res, document, await bodyFor(deps, address))
      const isKnown = matchesEtag(req.headers['if-none-match'], etagOf(document))
      return { status: 200, body: isKnown ? new RawResponse((to) => void to.writeHead(304).end()) : body }
    },
    getOrCreate: creating(deps, getOrCreateDocument),
    createOrUpdate: async ({ params, body, req, res }) =>
      onlyOnce(deps, { req, res, status: 200 }, async (own) => {
        const address = addressOf(params, res)
        const { prompt: content, ...rest } = body
        const bodyOf = await bodyFor(own, address)
        const document = await createOrUpdateDocument(own, { ...rest, content, ...preconditions(req), ...address })
        return tagged(res, document, bodyOf)
      }),
    delete: async ({ params, req, res }) => {
      const { ifMatch } = preconditions(req)
      const address = addressOf(params, res)
      const input = { ...address, path: params.path, ...(ifMatch === undefined ? {} : { ifMatch }) }
      const { documentUuid, path } = await deleteDocument(deps, input)
      return { status: 200, body: { documentUuid, path } }
    },
    merge: async ({ params, body, res }) => {
      return { status: 200, body: await mergeDocuments(deps, { ...body, ...addressOf(params, res) }) }
    },
    check: async ({ params, body, res }) => {
      const address = addressOf(params, res)
      const check = await checkPrompt(deps, { ...body, ...address })
      const kindOf = await providerKinds(deps, address)
      return { status: 200, body: clientBody(contextOf(res).legacyClient, checkBody(check, kindOf(check.config))) }
    },
  }
}

interface CreateCall {
  params: { projectId: string; versionUuid: string }
  body: { path: string; prompt: string }
  req: Request
  res: Response
}

function creating(deps: HttpDeps, create: typeof createDocument) {
  return async ({ params, body, req, res }: CreateCall) =>
    onlyOnce(deps, { req, res, status: 200 }, async (own) => {
      const address = addressOf(params, res)
      const bodyOf = await bodyFor(own, address)
      return tagged(res, await create(own, { ...address, path: body.path, content: body.prompt }), bodyOf)
    })
}

function addressOf(params: { projectId: string; versionUuid: string }, res: Response) {
  return { caller: callerOf(res), ...versionAddress(params), signal: whileOpen(res) }
}

function tagged(res: Response, document: Document, bodyOf: (document: Document) => DocumentBody): DocumentBody {
  res.setHeader('ETag', etagOf(document))
  res.setHeader('Cache-Control', 'private, no-cache')
  return bodyOf(document)
}

/** Reads the data for response bodies before the write, because `onlyOnce` allows no await after the write. */
async function bodyFor(deps: HttpDeps, address: Address): Promise<(document: Document) => DocumentBody> {
  const kindOf = await providerKinds(deps, address)
  return (document) => documentBody(document, kindOf(document.config))
}

/** Returns a function that finds the type of the provider key for a configuration. */
async function providerKinds(
  deps: HttpDeps,
  address: Address,
): Promise<(config: Document['config']) => string | undefined> {
  const { project } = await resolveVersion(deps, address)
  const providers = await listProviders(deps, address.caller.workspaceId)
  const defaults = {
    projectDefault: project.defaultProvider,
    serverDefault: deps.providers.environment.defaultProvider,
  }
  return ({ provider }) => {
    const named = typeof provider === 'string' ? provider : undefined
    return providerKindOf(providers, { ...defaults, named })
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

function providerKindOf(providers: readonly ProviderEntry[], choice: Choice): string | undefined {
  try {
    return chooseProvider(providers, choice).kind
  } catch (error) {
    if (error instanceof RunError) return undefined
    throw error
  }
}
