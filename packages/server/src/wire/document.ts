import type {
  Document as DocumentBody,
  TreeItem as ItemBody,
  MovedDocument as MovedBody,
} from '@stet/contract/vocabulary'
import { defined } from '@stet/template/defined'
import type { Document, UnresolvedDocument } from '../features/documents/document.ts'
import type { MovedDocument } from '../features/versions/push/move-document.ts'
import type { TreeItem } from '../features/versions/read-tree.ts'
import { personBody } from './api-key.ts'
import { issueBodies, issueBody, maxIssues, type ProviderFacts } from './check.ts'
import { providerKind } from './legacy-clients.ts'

export function documentBody(document: Document, facts: ProviderFacts): DocumentBody {
  const { id, documentUuid, uuid, path, content, ...rest } = unresolvedBody(document, facts)
  const { resolvedContent, merged } = document
  // The order of the schema, so that a replayed response has the bytes of the first one.
  return { id, documentUuid, uuid, path, content, resolvedContent, ...rest, ...(merged && { merged }) }
}

export function movedBody(document: MovedDocument, facts: ProviderFacts): MovedBody {
  return { ...documentBody(document, facts), brokenReferences: document.brokenReferences }
}

export function unresolvedBody(
  document: UnresolvedDocument,
  { kind, issues }: ProviderFacts,
): Omit<DocumentBody, 'resolvedContent'> {
  const provider = providerKind(kind)
  return {
    id: document.id,
    documentUuid: document.documentUuid,
    uuid: document.documentUuid,
    path: document.path,
    content: document.content,
    contentHash: document.contentHash,
    commitId: document.versionId,
    versionUuid: document.versionUuid,
    projectId: document.projectId,
    config: document.config,
    parameters: document.parameters,
    ...(provider === undefined ? {} : { provider }),
    errors: document.errors.slice(0, maxIssues).map((issue) => issueBody(issue, document.path)),
    issues: issueBodies([...document.issues, ...issues]),
    createdAt: document.createdAt.toISOString(),
    updatedAt: document.updatedAt.toISOString(),
    mergedAt: document.mergedAt?.toISOString() ?? null,
    deletedAt: null,
    updatedBy: document.updatedBy && personBody(document.updatedBy),
    ...(document.movedFrom !== null && { movedFrom: document.movedFrom }),
  }
}

export function treeItemBody(item: TreeItem): ItemBody {
  return {
    documentUuid: item.documentUuid,
    path: item.path,
    contentHash: item.contentHash,
    change: item.change,
    compiles: item.compiles,
    isConfigured: item.isConfigured,
    isAgent: item.isAgent,
    updatedAt: item.updatedAt.toISOString(),
    updatedBy: item.updatedBy && personBody(item.updatedBy),
    ...(item.movedFrom && { movedFrom: item.movedFrom }),
    ...defined({ movedTo: item.movedTo }),
  }
}
