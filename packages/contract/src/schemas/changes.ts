import { z } from 'zod'
import {
  baseText,
  ContentHash,
  DocumentPath,
  expectedHashes,
  nullsAbsent,
  PromptText,
  requireBaseHash,
  Uuid,
} from '../common.ts'
import { LIMITS } from '../vocabulary/limits.ts'

export const ChangeStatus = z.enum(['added', 'modified', 'deleted', 'moved', 'unchanged']).meta({
  description:
    '`added` and `modified` both create or replace the prompt. `moved` moves the prompt at `from` to `path`, where it ' +
    'keeps its `documentUuid`. The server skips `unchanged`.',
})

const changeShape = {
  path: DocumentPath,
  status: ChangeStatus,
  from: DocumentPath.exactOptional().meta({
    description:
      'Required for `moved`: the path that the prompt leaves. `baseHash` and `liveHash` then concern the prompt at this path.',
  }),
  content: z.string().exactOptional().meta({
    description: 'Required for `added` and `modified`. May be `""`. If it is absent, a `moved` prompt keeps its text.',
  }),
  contentHash: z.string().exactOptional().meta({ description: 'Accepted and ignored.' }),
  ...expectedHashes,
  ...baseText,
}

export const Change = nullsAbsent(
  z.object(changeShape).superRefine((change, context) => {
    const { status } = change
    if (status === 'moved' && change.from === undefined) {
      context.addIssue({ code: 'custom', path: ['from'], message: 'is required with the status `moved`' })
    }
    const isText = status === 'added' || status === 'modified' || (status === 'moved' && change.content !== undefined)
    if (!isText) return
    const content = PromptText.safeParse(change.content)
    for (const issue of content.error?.issues ?? []) {
      context.addIssue({ code: 'custom', path: ['content'], message: issue.message })
    }
  }),
).meta({
  id: 'Change',
  description:
    'One change of a push. `added` and `modified` require `content`, and `moved` requires `from`. The path that a prompt ' +
    'moves to must be free after the other changes of the push, so two prompts can swap their paths.',
  example: "{ path: 'support/reply', status: 'modified', content: 'Hello {{ name }}' }",
})

export const Changes = z.array(Change).max(LIMITS.changes).meta({ description: 'One entry per path. May be empty.' })

/** `unchanged` writes nothing, so it needs no hash. */
export function requireBaseHashes(
  context: z.core.$RefinementCtx,
  changes: z.output<typeof Changes>,
  option: 'merge' | 'replace',
): void {
  for (const [index, change] of changes.entries()) {
    if (change.status !== 'unchanged') requireBaseHash(context, change, option, ['changes', index])
  }
}

export const MergeOption = z
  .boolean()
  .default(false)
  .meta({
    description:
      'Merges a change by line if its prompt has changed since `baseHash`. 409 only if the changes overlap. Requires ' +
      '`baseHash` in each change.',
  })

export const PushChangesBody = nullsAbsent(
  z.object({ changes: Changes, merge: MergeOption }).superRefine(({ changes, merge }, context) => {
    if (merge) requireBaseHashes(context, changes, 'merge')
  }),
).meta({
  id: 'PushChangesBody',
  description: 'The changes of a push. The server applies all of them or none.',
  example: "{ changes: [{ path: 'support/reply', status: 'added', content: 'Hello' }] }",
})

export const BrokenReferences = z.array(z.string()).meta({
  description:
    'The prompts that refer to a path that a move left empty. Publishing refuses them until you change the references.',
})

export const outcomeShape = {
  brokenReferences: BrokenReferences.exactOptional(),
  merged: z
    .array(z.object({ path: z.string(), content: z.string(), contentHash: ContentHash }))
    .exactOptional()
    .meta({ description: 'Only after a push with `merge`: the texts that were merged with newer ones.' }),
}

export const PushResult = z
  .object({
    commitUuid: Uuid,
    versionUuid: Uuid.meta({ description: 'The same as `commitUuid`.' }),
    documentsProcessed: z.int().nonnegative(),
    added: z.int().nonnegative(),
    modified: z.int().nonnegative(),
    deleted: z.int().nonnegative(),
    moved: z.int().nonnegative().exactOptional().meta({
      description:
        'The number of prompts that moved. They do not count in the other numbers. Only after a push with moves.',
    }),
    ...outcomeShape,
  })
  .meta({ id: 'PushResult' })
