/** Tools that read prompts, versions and conversations. */
import { setImmediate as pause } from 'node:timers/promises'
import { PromptText, VersionStatus } from '@stet/contract'
import type { VersionDiff } from '@stet/contract/vocabulary'
import { defined } from '@stet/template/defined'
import { createTwoFilesPatch } from 'diff'
import { z } from 'zod'
import { checkPrompt } from '../../features/checks/check-prompt.ts'
import { listConversations } from '../../features/conversations/list-conversations.ts'
import type { UnresolvedDocument } from '../../features/documents/document.ts'
import { listUnresolved, readDocument } from '../../features/documents/read-document.ts'
import { diffVersions } from '../../features/versions/diff-versions.ts'
import { listVersions } from '../../features/versions/read-versions.ts'
import { checkBody } from '../../wire/check.ts'
import { conversationBody, summaryBody } from '../../wire/conversation.ts'
import { documentBody } from '../../wire/document.ts'
import { descriptionOf } from '../../wire/mcp/prompt-tools.ts'
import { listPage, maxDiffBytes, promptUri, structuredResult } from '../../wire/mcp/results.ts'
import { versionBody } from '../../wire/version.ts'
import {
  addressOf,
  conversationOf,
  cursor,
  draft,
  fixedTool,
  InvalidParams,
  promptPath,
  uuid,
  versionRef,
  wholeConversation,
} from './call.ts'
import { pageSize } from './prompts.ts'

const readInstant = (text: string | undefined) => (text === undefined ? undefined : new Date(text))

const noFacts = { kind: undefined, issues: [] }

const toolPage = <Entry extends object>() => listPage<Entry>((omitted) => ({ omitted }))

export const readTools = [
  fixedTool({
    name: 'stet_list_prompts',
    description: 'Lists the prompts of a version by path, with their descriptions and parameters.',
    arguments: { version: versionRef, prefix: z.string().optional().describe('The start of the paths.'), cursor },
    async run(deps, call, { version, prefix, cursor: after }, project) {
      const address = await addressOf(deps, call, project, version)
      await call.reserve()
      const page = toolPage<Pick<UnresolvedDocument, 'path' | 'parameters'> & { description?: string }>()
      let isFull = false
      const wanted = defined({ prefix, cursor: after, limit: pageSize })
      for await (const document of listUnresolved(deps, { ...address, ...wanted })) {
        const { path, parameters } = document
        isFull = !page.add({ path, ...defined({ description: descriptionOf(document) }), parameters })
        if (isFull) break
      }
      const { entries: prompts } = page
      const hasMore = isFull || prompts.length === pageSize
      return structuredResult({ prompts, nextCursor: hasMore ? prompts.at(-1)?.path : null })
    },
  }),
  fixedTool({
    name: 'stet_get_prompt',
    description: 'Returns the text of a prompt, its contentHash, configuration, parameters and compile errors.',
    arguments: { path: promptPath, version: versionRef },
    async run(deps, call, { path, version = 'live' }, project) {
      const address = await addressOf(deps, call, project, version)
      const document = documentBody(await readDocument(deps, { ...address, path }), noFacts)
      const { content, contentHash, config, parameters, errors } = document
      const uri = promptUri({ projectId: project.id, versionRef: version, path: document.path })
      return structuredResult(
        { path: document.path, content, contentHash, config, parameters, errors },
        `The resource ${uri}`,
      )
    },
  }),
  fixedTool({
    name: 'stet_list_versions',
    description: 'Lists drafts, newest first, then published versions by descending number.',
    arguments: { status: VersionStatus.optional(), cursor },
    async run(deps, { caller }, { status, cursor: after }, { id: projectId }) {
      const all = await listVersions(deps, { caller, projectId, ...defined({ status }) })
      const start = after === undefined ? 0 : all.findIndex((version) => version.uuid === after) + 1
      if (after !== undefined && start === 0) throw new InvalidParams('The cursor is not one of this list')
      const page = toolPage<ReturnType<typeof versionBody>>()
      for (const version of all.slice(start, start + pageSize)) if (!page.add(versionBody(version))) break
      const { entries: versions } = page
      const nextCursor = start + versions.length < all.length ? (versions.at(-1)?.uuid ?? null) : null
      return structuredResult({ versions, nextCursor })
    },
  }),
  fixedTool({
    name: 'stet_diff',
    description:
      'Compares a version with another one: by default a draft with live, or a published version with the one before.',
    arguments: {
      head: z.string().min(1).describe('A draft or version: `live`, a version number or a uuid.'),
      base: z.string().min(1).optional().describe('The version to compare with.'),
    },
    async run(deps, call, { head, base }, project) {
      await call.reserve()
      const against = base === undefined ? {} : { base: await addressOf(deps, call, project, base) }
      const compared = await diffVersions(deps, { ...(await addressOf(deps, call, project, head)), ...against })
      const changes: VersionDiff['changes'] = []
      let [unified, bytes] = ['', 0]
      let leftMs = maxComparisonMs
      for await (const change of compared.changes()) {
        // A comparison blocks the server, so others come in between.
        await pause()
        const start = performance.now()
        changes.push(change)
        unified += unifiedText(change, leftMs)
        leftMs -= performance.now() - start
        bytes += Buffer.byteLength(JSON.stringify(change))
        // The result is cut there.
        if (bytes + unified.length > maxDiffBytes) break
      }
      return structuredResult({ base: compared.base, head: compared.head, unified, changes })
    },
  }),
  fixedTool({
    name: 'stet_check_prompt',
    description: 'Compiles a text as the prompt at a path, and returns the problems with their places. Stores nothing.',
    scopes: [['read'], ['write']],
    arguments: {
      path: promptPath,
      content: PromptText.describe('The text of the prompt.'),
      draft: draft.optional().describe('The draft whose prompts the text may refer to. Default: live.'),
    },
    async run(deps, { caller, signal }, { path, content, draft: versionUuid = 'live' }, { id: projectId }) {
      const address = { caller, projectId, versionRef: versionUuid, signal }
      const check = await checkPrompt(deps, { ...address, path, prompt: content })
      const { errors, issues, contentHash, parameters } = checkBody(check, noFacts)
      return structuredResult({ errors, issues, contentHash, parameters })
    },
  }),
  fixedTool({
    name: 'stet_list_conversations',
    description: 'Lists conversations, newest first, without their messages.',
    arguments: {
      path: promptPath.optional(),
      status: z.enum(['queued', 'running', 'completed', 'error', 'stopped']).optional(),
      customIdentifier: z.string().optional(),
      from: z.iso.datetime({ offset: true }).optional().describe('Created at this time or later.'),
      to: z.iso.datetime({ offset: true }).optional().describe('Created at this time or earlier.'),
      cursor,
    },
    async run(deps, { caller }, { cursor: after, from, to, ...equal }, { id: projectId }) {
      const filter = defined({ ...equal, from: readInstant(from), to: readInstant(to), projectId })
      const list = (limit: number) => listConversations(deps, { caller, filter, limit, ...defined({ cursor: after }) })
      const { items, nextCursor } = await list(pageSize)
      const page = toolPage<ReturnType<typeof summaryBody>>()
      for (const item of items) if (!page.add(summaryBody(item))) break
      const { entries: conversations } = page
      // A cursor belongs to the last conversation of a page, so a page that ends earlier needs its own.
      const isWhole = conversations.length === items.length
      const next = isWhole ? nextCursor : (await list(conversations.length)).nextCursor
      return structuredResult({ conversations, nextCursor: next })
    },
  }),
  fixedTool({
    name: 'stet_get_conversation',
    description: 'Returns the messages, the status, the usage and the cost of a conversation, also while it runs.',
    scopes: [['read', 'run']],
    arguments: { uuid: uuid('The conversation.') },
    async run(deps, call, { uuid: conversationUuid }, project) {
      await call.reserve()
      const conversation = await conversationOf(deps, call, project, conversationUuid)
      const { conversation: messages, ...rest } = conversationBody(conversation)
      return structuredResult({ ...rest, messages }, wholeConversation(call, rest.uuid))
    },
  }),
]

/** Texts that differ more are not compared, because the time of a comparison grows with the square of the differences. */
const maxEditLength = 400
/** For all prompts of one call. */
const maxComparisonMs = 500

/** @param leftMs the time that the comparison may take */
function unifiedText({ path, before, after }: VersionDiff['changes'][number], leftMs: number): string {
  const [old, now] = [before?.content ?? '', after?.content ?? '']
  const names = [before ? `a/${path}` : '/dev/null', after ? `b/${path}` : '/dev/null'] as const
  const patch = createTwoFilesPatch(...names, old, now, '', '', {
    ...{ context: 3, maxEditLength, timeout: Math.max(1, Math.floor(leftMs)) },
  })
  return patch === undefined ? `--- ${names[0]}\n+++ ${names[1]}\n(too different to compare by line)\n` : patch
}
