import type { NewConversation } from '../../../features/runs/ports.ts'

/** What belongs together in the statements that write it: how it comes in, its columns, and its values of an input `i`. */
export interface RowPart {
  input: string
  columns: string
  values: string
}

/** What a conversation is from its first moment on. */
export const conversationPart: RowPart = {
  input:
    'uuid uuid, workspace int, project int, version uuid, document uuid, path text, hash text, identifier text, origin text, config json',
  columns:
    'uuid, workspace_id, project_id, version_uuid, document_uuid, path, content_hash, custom_identifier, origin, config',
  values: 'i.uuid, i.workspace, i.project, i.version, i.document, i.path, i.hash, i.identifier, i.origin, i.config',
}

export function conversationRow(conversation: NewConversation) {
  return {
    uuid: conversation.uuid,
    workspace: conversation.workspaceId,
    project: conversation.projectId,
    version: conversation.versionUuid,
    document: conversation.documentUuid,
    path: conversation.path,
    hash: conversation.contentHash,
    identifier: conversation.customIdentifier,
    origin: conversation.origin,
    config: conversation.config,
  }
}
