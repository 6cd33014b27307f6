import { contract, type Document as DocumentBody } from '@stet/contract'
import type { Response } from 'express'
import type { Document } from '../../features/documents/document.ts'
import { listDocuments } from '../../features/documents/read-document.ts'
import {
  createDocument,
  createOrUpdateDocument,
  deleteDocument,
  getOrCreateDocument,
} from '../../features/documents/save-document.ts'
import { resolveVersion } from '../../features/documents/version-ref.ts'
import { listProviders } from '../../features/providers/list-providers.ts'
import type { HttpDeps } from '../http-deps.ts'
import { preconditions } from '../input/preconditions.ts'
import { versionAddress } from '../input/version-address.ts'
import { ResponseTap, type Routes } from '../mount.ts'
import { callerOf, whileOpen } from '../request/request-context.ts'
import { onlyOnce } from '../response/only-once.ts'
import { documentProvider, etagOf, type ReadyDocuments, writeReadyDocument } from '../response/ready-document.ts'
import { documentBody } from '../wire/document.ts'

type Address = ReturnType<typeof addressOf>

export function documentRoutes(deps: HttpDeps, ready: ReadyDocuments): Routes<typeof contract.documents> {
  return {
    list: async ({ params, query, res }) => {
      const address = addressOf(params, res)
      const documents = await listDocuments(deps, { ...query, ...address })
      const bodyOf = await bodyFor(deps, address)
      return { status: 200, body: documents.map(bodyOf) }
    },
    create: onlyOnce(deps, contract.documents.create, 200, (own) => async ({ params, body, res }) => {
      const address = addressOf(params, res)
      const bodyOf = await bodyFor(own, address)
      const document = await createDocument(own, { ...address, path: body.path, content: body.prompt })
      return { status: 200, body: tagged(res, document, bodyOf) }
    }),
    get: async ({ params, req, res }) => {
      const document = await ready.read({ ...addressOf(params, res), path: params.path })
      const ifNoneMatch = req.headers['if-none-match']
      return { status: 200, body: new ResponseTap((response) => writeReadyDocument(response, document, ifNoneMatch)) }
    },
    getOrCreate: onlyOnce(deps, contract.documents.getOrCreate, 200, (own) => async ({ params, body, res }) => {
      const address = addressOf(params, res)
      const bodyOf = await bodyFor(own, address)
      const document = await getOrCreateDocument(own, { ...address, path: body.path, content: body.prompt })
      return { status: 200, body: tagged(res, document, bodyOf) }
    }),
    createOrUpdate: onlyOnce(
      deps,
      contract.documents.createOrUpdate,
      200,
      (own) =>
        async ({ params, body, req, res }) => {
          const address = addressOf(params, res)
          const { prompt: content, ...rest } = body
          const bodyOf = await bodyFor(own, address)
          const document = await createOrUpdateDocument(own, { ...rest, content, ...preconditions(req), ...address })
          return { status: 200, body: tagged(res, document, bodyOf) }
        },
    ),
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
  return { caller: callerOf(res), ...versionAddress(params), signal: whileOpen(res) }
}

function tagged(res: Response, document: Document, bodyOf: (document: Document) => DocumentBody): DocumentBody {
  res.setHeader('ETag', etagOf(document))
  res.setHeader('Cache-Control', 'private, no-cache')
  return bodyOf(document)
}

/** What a body needs beside its document; read ahead of a write, which nothing may be awaited after. */
async function bodyFor(deps: HttpDeps, address: Address): Promise<(document: Document) => DocumentBody> {
  const { project } = await resolveVersion(deps, address)
  const providers = await listProviders(deps, address.caller.workspaceId)
  return (document) => documentBody(document, documentProvider(deps, document, project, providers))
}
