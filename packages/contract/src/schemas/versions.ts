import { initContract } from '@ts-rest/core'
import { z } from 'zod'
import {
  absent,
  ContentHash,
  DocumentPath,
  Id,
  Name,
  nullsAbsent,
  orRaw,
  Person,
  ProjectParams,
  RevisionParams,
  Timestamp,
  text,
  Uuid,
  VersionParams,
} from '../common.ts'
import { withErrors } from '../errors.ts'
import { flag } from '../query-values.ts'
import { LIMITS } from '../vocabulary/limits.ts'
import { Changes, MergeOption, outcomeShape, PushChangesBody, PushResult, requireBaseHashes } from './changes.ts'
import { ReleaseCheck, ReleaseChecks } from './environments.ts'
import { ImportVersionBody } from './import-version.ts'
import { UpdateFromEnvironmentBody, UpdateResult } from './merges.ts'
import { PublishVersionBody } from './publish-version.ts'

const c = initContract()

export const VersionStatus = z.enum(['draft', 'merged']).meta({
  description: 'A draft can change. A merged version was published, and only a write with `force` changes its prompts.',
})

export const ForcedEdit = z
  .object({
    revision: Id.meta({ description: 'The revision that the edit made. `<uuid>@<revision>` reads it.' }),
    path: z.string(),
    author: Person,
    oldHash: ContentHash.nullable().meta({ description: 'Null if the edit added the prompt.' }),
    newHash: ContentHash,
    createdAt: Timestamp,
  })
  .meta({ id: 'ForcedEdit', description: 'An edit of a merged version in place.' })

export const Version = z
  .object({
    id: Id,
    uuid: Uuid,
    projectId: Id,
    message: z.string().meta({ description: 'The name; the same as `title`.' }),
    title: z.string(),
    description: z.string().nullable().meta({ description: 'Release notes.' }),
    authorId: Id,
    authorName: z.string(),
    authorEmail: z.string(),
    userId: z.string().meta({ description: '`authorId` as text, for legacy clients.' }),
    status: VersionStatus,
    version: Id.nullable().meta({
      description: 'The number from publication. Each project starts at 1. Null for a draft.',
    }),
    parentCommitUuid: Uuid.nullable().meta({ description: 'The version that was live when this version was created.' }),
    mergedAt: Timestamp.nullable(),
    deletedAt: Timestamp.nullable().meta({
      description: 'When the draft was deleted. Only a list with `deleted` and the response of the deletion show it.',
    }),
    mainDocumentUuid: z.null(),
    isLive: z.boolean(),
    createdAt: Timestamp,
    updatedAt: Timestamp.meta({ description: 'The last change of the version or of one of its prompts.' }),
    publishedBy: Person.nullable().meta({
      description: 'Null for a draft, and for an imported version.',
    }),
    changeCount: z
      .int()
      .nonnegative()
      .meta({
        description:
          'The number of prompts that a draft changes against live, or a merged version against the number before it. ' +
          'A moved prompt counts once. Forced edits count, also for an earlier revision.',
      }),
    forcedEdits: z.array(ForcedEdit).meta({ description: 'Edits after publication, with `force`, oldest first.' }),
    revision: z.int().nonnegative().meta({
      description: '0 as published, and one more for each forced edit. `<uuid>@<revision>` reads an earlier one.',
    }),
    baseVersionUuid: Uuid.nullable().meta({
      description: 'The version that was live when this one was published. Null for a draft, and for the first one.',
    }),
    baseRevision: z.int().nonnegative().nullable().meta({ description: 'The revision of `baseVersionUuid`.' }),
  })
  .meta({
    id: 'Version',
    description: "A version of a project's prompts. Legacy clients call it a commit.",
    example: "const drafts = versions.filter(({ status }) => status === 'draft')",
  })

export const ListVersionsQuery = z.object({
  status: VersionStatus.exactOptional(),
  deleted: flag.exactOptional().meta({
    description: 'Also lists deleted drafts that can still be restored. Default: `false`.',
  }),
})

export const UpdateVersionBody = absent({
  name: Name.exactOptional(),
  description: text({ max: LIMITS.descriptionLength }).exactOptional().meta({ description: '`""` clears the notes.' }),
}).meta({
  id: 'UpdateVersionBody',
  description: 'An absent field stays as it is.',
  example: "{ name: 'Friendlier tone' }",
})

export const CreateVersionBody = nullsAbsent(
  z
    .object({
      name: Name,
      reuse: z.boolean().default(false).meta({
        description: 'Takes the newest draft with exactly this name, and creates one only if there is none.',
      }),
      changes: Changes.exactOptional(),
      replace: z
        .boolean()
        .default(false)
        .meta({
          description:
            'Afterwards `changes` are the only changes of the draft. Each then requires `baseHash`, the hash of the live text. ' +
            "409 if this would undo another author's change.",
        }),
      merge: MergeOption,
      publish: PublishVersionBody.exactOptional().meta({
        description: 'Publishes the draft too. Needs the key scope `publish`.',
      }),
    })
    .superRefine(({ changes, replace, merge }, context) => {
      if (changes && (replace || merge)) requireBaseHashes(context, changes, replace ? 'replace' : 'merge')
    }),
).meta({
  id: 'CreateVersionBody',
  description: 'The server does all of it or nothing.',
  example: "{ name: 'Friendlier tone' }",
})

export const CreatedVersion = Version.extend(outcomeShape).meta({
  id: 'CreatedVersion',
  description: 'With the outcome of its `changes`, as after a push.',
})

export const RevertVersionBody = absent({
  paths: z.array(DocumentPath).min(1).max(LIMITS.changes).exactOptional(),
}).meta({ id: 'RevertVersionBody', description: 'Without `paths`, the revert drops all changes of the draft.' })

export const RevertResult = z
  .object({
    versionUuid: Uuid,
    reverted: z.array(
      z.object({ path: z.string(), documentUuid: Uuid, action: z.enum(['restored', 'reset', 'removed']) }),
    ),
  })
  .meta({
    id: 'RevertResult',
    description: 'A deletion is `restored`, an edit is `reset`, and an addition is `removed`.',
  })

export const DiffVersionsQuery = z.object({
  base: z.string().exactOptional().meta({
    description:
      'The uuid of a version, `<uuid>@<revision>`, or `live`. Default: live for a draft, the previous number for a merged version.',
  }),
})

export const ChecksQuery = z.object({
  block: ReleaseCheck.exactOptional().meta({
    description: 'A check that the publication names in `block`. Default: none.',
  }),
})

export const DiffSide = z.object({ content: z.string(), contentHash: ContentHash }).meta({ id: 'DiffSide' })

const moveShape = {
  movedFrom: z
    .object({
      path: z.string(),
      contentHash: ContentHash.exactOptional().meta({
        description: 'The hash of the text before the move. Absent if the text is the same.',
      }),
    })
    .exactOptional()
    .meta({ description: 'Where the prompt comes from, if it was moved here. It kept its `documentUuid`.' }),
  movedTo: z.string().exactOptional().meta({
    description: 'Where the earlier prompt of this path is now, if it was moved.',
  }),
}

export const VersionDiff = z
  .object({
    base: Uuid.nullable(),
    head: Uuid,
    changes: z.array(
      z.object({
        path: z.string(),
        documentUuid: Uuid,
        status: z.enum(['added', 'modified', 'deleted']),
        before: DiffSide.nullable(),
        after: DiffSide.nullable(),
        conflict: z
          .boolean()
          .meta({ description: 'Publishing would be refused, because live has changed this prompt meanwhile.' }),
        ...moveShape,
      }),
    ),
  })
  .meta({
    id: 'VersionDiff',
    description:
      'Changes are ordered by path. A move is two changes: `added` with `movedFrom`, and `deleted` with `movedTo`.',
  })

export const TreeItem = z
  .object({
    documentUuid: Uuid,
    path: z.string(),
    contentHash: ContentHash.meta({ description: 'The hash of the deleted text if `change` is `deleted`.' }),
    change: z.enum(['added', 'modified', 'deleted']).nullable().meta({
      description: "The draft's change against live. Null if the texts are equal. Always null in a merged version.",
    }),
    compiles: z.boolean().nullable().meta({
      description: 'Null until this server has compiled the text with its current references.',
    }),
    isConfigured: z.boolean().nullable().meta({
      description:
        'False if a run would refuse its settings: `issues` of the prompt has errors. Null as for `compiles`.',
    }),
    isAgent: z.boolean().nullable().meta({
      description:
        'True if the front matter has `type: agent`. Null until this server has compiled the text with its current references.',
    }),
    updatedAt: Timestamp.meta({ description: 'For a deleted prompt, the time of the deletion.' }),
    updatedBy: Person.nullable().meta({
      description: 'The author of the last change. Null if that author was deleted.',
    }),
    ...moveShape,
  })
  .meta({
    id: 'TreeItem',
    description: "One prompt of a version's tree, without its text.",
    example: 'const broken = tree.items.filter(({ compiles }) => compiles === false)',
  })

export const VersionTree = z.object({ version: Version, items: z.array(TreeItem) }).meta({
  id: 'VersionTree',
  description: "Items are ordered by path. A draft's tree also contains the prompts that the draft deletes from live.",
})

export const versionRoutes = {
  list: {
    summary: 'List versions',
    description: 'Drafts first, newest first, then merged versions in descending order.',
    pathParams: ProjectParams,
    query: ListVersionsQuery,
    responses: withErrors({ 200: z.array(Version) }),
  },
  create: {
    summary: 'Create a draft',
    description:
      'The draft equals live until you change it. With `changes` and `publish`, the draft is filled and published in ' +
      'the same step. A refusal leaves nothing behind.',
    pathParams: ProjectParams,
    body: CreateVersionBody,
    responses: withErrors({ 200: orRaw(CreatedVersion) }),
  },
  get: {
    summary: 'Get a version',
    description: 'Takes the uuid of a version, `<uuid>@<revision>`, or `live` for the published one.',
    pathParams: RevisionParams,
    responses: withErrors({ 200: Version }),
  },
  update: {
    summary: 'Rename a draft',
    description: 'Changes its name and its release notes. A merged version keeps both.',
    pathParams: VersionParams,
    body: UpdateVersionBody,
    responses: withErrors({ 200: Version }),
  },
  delete: {
    summary: 'Delete a draft',
    description:
      'The draft is unknown from then on. Its conversations stay. You can restore it within 30 days. Returns the ' +
      'deleted draft, also if it was deleted before.',
    pathParams: VersionParams,
    responses: withErrors({ 200: Version }),
  },
  restore: {
    summary: 'Restore a deleted draft',
    description: 'The draft returns with its uuid and its changes. 404 later than 30 days after the deletion.',
    pathParams: VersionParams,
    body: c.noBody(),
    responses: withErrors({ 200: Version }),
  },
  publish: {
    summary: 'Publish a draft',
    description:
      'Applies the changes of the draft to live, gives it the next number and makes it live, in one step. 409 if live ' +
      'changed a path that the draft also changes: `merge` resolves it if the changes do not overlap, a push with ' +
      '`liveHash` in any case, `force` overrides it. 409 if a gate of the project blocks it. 422 if a ' +
      'prompt does not compile. 400 if the version is not a draft.',
    pathParams: VersionParams,
    body: PublishVersionBody,
    responses: withErrors({ 200: orRaw(Version) }),
  },
  push: {
    summary: 'Push changes to a draft',
    description:
      'Applies all changes or none. 409 if a `baseHash` or `liveHash` is out of date. With `merge`, 409 only if the ' +
      'changes overlap.',
    pathParams: VersionParams,
    body: PushChangesBody,
    responses: withErrors({ 200: orRaw(PushResult) }),
  },
  updateFromEnvironment: {
    summary: "Merge live's changes into a draft",
    description:
      'Merges by line each prompt that live has changed since the draft changed it. Clean results are written, and ' +
      'publishing finds no conflict there. The others are listed.',
    pathParams: VersionParams,
    body: UpdateFromEnvironmentBody,
    responses: withErrors({ 200: orRaw(UpdateResult) }),
  },
  revert: {
    summary: 'Revert changes of a draft',
    description:
      'Drops all changes of the draft, or those at `paths`. Reverting either path of a move reverts both. Skips paths ' +
      'without a change.',
    pathParams: VersionParams,
    body: RevertVersionBody,
    responses: withErrors({ 200: orRaw(RevertResult) }),
  },
  diff: {
    summary: 'Compare two versions',
    description: 'Returns the changes of the version against its base, ordered by path.',
    pathParams: RevisionParams,
    query: DiffVersionsQuery,
    responses: withErrors({ 200: orRaw(VersionDiff) }),
  },
  tree: {
    summary: "List a version's prompts without their texts",
    description:
      'Returns every prompt with its state, ordered by path. A draft also lists the prompts that it deletes from live.',
    pathParams: RevisionParams,
    responses: withErrors({ 200: VersionTree }),
  },
  checks: {
    summary: 'Check a draft before it is published',
    description:
      'Returns what would refuse the publication now: prompts that live has changed too, prompts that do not compile, ' +
      'settings that a run would refuse, and gates of the project. Writes nothing. 400 if the version is not a draft.',
    pathParams: VersionParams,
    query: ChecksQuery,
    responses: withErrors({ 200: ReleaseChecks }),
  },
  import: {
    summary: 'Import the history of a version',
    description:
      'Gives a draft the uuid, the names and the times of a version of another installation. With `mergedAt`, its ' +
      'prompts also become live under the next number, without being compiled. `revisions` repeats the forced edits of a ' +
      'published version. 409 if the uuid is in use.',
    pathParams: VersionParams,
    body: ImportVersionBody,
    responses: withErrors({ 200: orRaw(Version) }),
  },
} as const
