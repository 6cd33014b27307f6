/** Tools that change drafts, and the one that publishes. None of them can change what is live without a publication. */

import { Name, PromptText } from '@stet/contract'
import { defined } from '@stet/template/defined'
import { createOrUpdateDocument } from '../../features/documents/save-document.ts'
import { resolveVersion, type VersionAddress } from '../../features/documents/version-ref.ts'
import { createVersion } from '../../features/versions/create-version.ts'
import { publishVersion } from '../../features/versions/publish-version.ts'
import { pushChanges } from '../../features/versions/push/push-changes.ts'
import { refuse } from '../../shared/app-error.ts'
import { documentBody } from '../../wire/document.ts'
import { structuredResult } from '../../wire/mcp/results.ts'
import { baseHash, draft, fixedTool, promptPath, type ToolDeps } from './call.ts'

export const writeTools = [
  fixedTool({
    name: 'stet_create_draft',
    description: 'Creates a draft over the live version. Changes in it affect no run until a person publishes it.',
    scopes: [['write']],
    stores: true,
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    arguments: { name: Name.describe('What the draft changes.') },
    async run(deps, { caller, signal }, { name }, { id: projectId }) {
      const { uuid } = await createVersion(deps, { caller, projectId, name, signal })
      return structuredResult({ draft: uuid })
    },
  }),
  fixedTool({
    name: 'stet_write_prompt',
    description:
      'Writes the whole text of a prompt in a draft. If the prompt has changed since `baseHash`, nothing is written, and the error shows both hashes: read the prompt again.',
    scopes: [['write']],
    stores: true,
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    arguments: {
      draft,
      path: promptPath,
      content: PromptText.describe('The whole text of the prompt.'),
      baseHash: baseHash.describe('The `contentHash` that you read with stet_get_prompt. Empty for a new prompt.'),
    },
    async run(deps, { caller, signal }, { draft: versionRef, path, content, baseHash: base }, { id: projectId }) {
      const address = { caller, projectId, versionRef, signal }
      await requireDraft(deps, address)
      const input = { ...address, path, content, baseHash: base, force: false }
      const { contentHash, errors, issues } = documentBody(await createOrUpdateDocument(deps, input), noFacts)
      return structuredResult({ contentHash, errors, issues })
    },
  }),
  fixedTool({
    name: 'stet_delete_prompt',
    description: 'Deletes a prompt in a draft. Live keeps it until a person publishes the draft.',
    scopes: [['write']],
    stores: true,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    arguments: { draft, path: promptPath, baseHash: baseHash.min(64) },
    async run(deps, { caller, signal }, { draft: versionRef, path, baseHash: base }, { id: projectId }) {
      const address = { caller, projectId, versionRef, signal }
      await requireDraft(deps, address)
      await pushChanges(deps, { ...address, changes: [{ path, status: 'deleted', baseHash: base }] })
      return structuredResult({ path })
    },
  }),
  fixedTool({
    name: 'stet_publish_draft',
    description: 'Makes a draft live: from then on, runs use its prompts.',
    scopes: [['publish']],
    stores: true,
    isAllowed: ({ mcpPublish }) => mcpPublish,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    arguments: { draft, title: Name.optional().describe('Replaces the name of the draft.') },
    async run(deps, { caller, signal }, { draft: versionRef, title }, { id: projectId }) {
      const input = { caller, projectId, versionRef, signal, ...defined({ title }) }
      const { uuid, number } = await publishVersion(deps, input)
      return structuredResult({ version: uuid, number })
    },
  }),
]

const noFacts = { kind: undefined, issues: [] }

/** @throws AppError BadRequestError for a published version; NotFoundError. */
async function requireDraft(deps: ToolDeps, address: VersionAddress): Promise<void> {
  const { version } = await resolveVersion(deps, address)
  if (version.number !== null) throw refuse('not-a-draft')
}
