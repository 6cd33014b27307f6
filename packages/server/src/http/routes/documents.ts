import type { contract, Document as DocumentBody } from '@stet/contract'
import type { Response } from 'express'
import { deleteDocument } from '../../features/documents/delete-document.ts'
import type { Document } from '../../features/documents/document.ts'
import { listDocuments } from '../../features/documents/read-document.ts'
import { createDocument, createOrUpdateDocument, getOrCreateDocument } from '../../features/documents/save-document.ts'
import { resolveVersion } from '../../features/documents/version-ref.ts'
import { listProviders } from '../../features/providers/list-providers.ts'
import type { HttpDeps } from '../http-deps.ts'
import { preconditions } from '../input/preconditions.ts'
import { versionAddress } from '../input/version-address.ts'
import { ResponseTap, type Routes } from '../mount.ts'
import { callerOf } from '../request/request-context.ts'
import { documentProvider, etagOf, readyDocumentReader, writeReadyDocument } from '../response/ready-document.ts'
import { documentBody } from '../wire/document.ts'

type Address = ReturnType<typeof addressOf>

export function documentRoutes(deps: HttpDeps): Routes<typeof contract.documents> {
  const readReady = readyDocumentReader(deps)
  return {
    list: async ({ params, query, res }) => {
      const address = addressOf(params, res)
      const documents = await listDocuments(deps, { ...query, ...address })
      const bodyOf = await bodyFor(deps, address)
      return { status: 200, body: documents.map(bodyOf) }
    },
    create: async ({ params, body, res }) => {
      const address = addressOf(params, res)
      const document = await createDocument(deps, { ...address, path: body.path, content: body.prompt })
      return { status: 200, body: await answer(deps, address, document, res) }
    },
    get: async ({ params, req, res }) => {
      const ready = await readReady({ ...addressOf(params, res), path: params.path })
      const ifNoneMatch = req.headers['if-none-match']
      return { status: 200, body: new ResponseTap((response) => writeReadyDocument(response, ready, ifNoneMatch)) }
    },
    getOrCreate: async ({ params, body, res }) => {
      const address = addressOf(params, res)
      const document = await getOrCreateDocument(deps, { ...address, path: body.path, content: body.prompt })
      return { status: 200, body: await answer(deps, address, document, res) }
    },
    createOrUpdate: async ({ params, body, req, res }) => {
      const address = addressOf(params, res)
      const { prompt: content, ...rest } = body
      const document = await createOrUpdateDocument(deps, { ...rest, content, ...preconditions(req), ...address })
      return { status: 200, body: await answer(deps, address, document, res) }
    },
    delete: async ({ params, req, res }) => {
      const { ifMatch } = preconditions(req)
      const address = addressOf(params, res)
      const input = { ...address, path: params.path, ...(ifMatch === undefined ? {} : { ifMatch }) }
      const { documentUuid, path } = await deleteDocument(deps, input)
      return { status: 200, body: { documentUuid, path } }
    },
  }
}

function addressOf(params: { projectId: string; versionUuid: string }, res: Response) {
  return { caller: callerOf(res), ...versionAddress(params) }
}

async function answer(deps: HttpDeps, address: Address, document: Document, res: Response): Promise<DocumentBody> {
  res.setHeader('ETag', etagOf(document))
  res.setHeader('Cache-Control', 'private, no-cache')
  return (await bodyFor(deps, address))(document)
}

async function bodyFor(deps: HttpDeps, address: Address): Promise<(document: Document) => DocumentBody> {
  const { project } = await resolveVersion(deps, address)
  const providers = await listProviders(deps, address.caller.workspaceId)
  return (document) => documentBody(document, documentProvider(deps, document, project, providers))
}
