import type { TreeItem as ItemBody } from '@stet/contract/vocabulary'
import type { TreeItem } from '../features/versions/read-tree.ts'
import { personBody } from './api-key.ts'

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
    ...(item.movedTo !== undefined && { movedTo: item.movedTo }),
  }
}
