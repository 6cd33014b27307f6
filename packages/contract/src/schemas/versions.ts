import { z } from 'zod'
import {
  absent,
  ContentHash,
  DocumentPath,
  expectedHashes,
  type Held,
  Id,
  LIMITS,
  Name,
  nameText,
  nullsAbsent,
  orRaw,
  Person,
  ProjectParams,
  PromptText,
  Timestamp,
  text,
  Uuid,
  VersionParams,
} from '../common.ts'
import { withErrors } from '../errors.ts'
import type * as vocabulary from '../vocabulary/index.ts'
import { CHANGE_STATUSES, RELEASE_CHECKS, VERSION_STATUSES } from '../vocabulary/resources/versions.ts'

export const VersionStatus = z.enum(VERSION_STATUSES)
export type VersionStatus = Held<z.infer<typeof VersionStatus>, vocabulary.VersionStatus>

export const ForcedEdit = z
  .object({
    path: z.string(),
    author: Person,
    oldHash: ContentHash.nullable().meta({ description: 'Null if the edit added the prompt.' }),
    newHash: ContentHash,
    createdAt: Timestamp,
  })
  .meta({ id: 'ForcedEdit' })
export type ForcedEdit = Held<z.infer<typeof ForcedEdit>, vocabulary.ForcedEdit>

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
    userId: z.string().meta({ description: '`authorId` as text, for older clients.' }),
    status: VersionStatus,
    version: Id.nullable().meta({ description: 'The number from publication. Each project starts at 1.' }),
    parentCommitUuid: Uuid.nullable().meta({ description: 'The version that was live when this one was created.' }),
    mergedAt: Timestamp.nullable(),
    deletedAt: z.null(),
    mainDocumentUuid: z.null(),
    isLive: z.boolean(),
    createdAt: Timestamp,
    updatedAt: Timestamp.meta({ description: 'The last change of the version or of one of its prompts.' }),
    publishedBy: Person.nullable().meta({
      description: 'Null for a draft, an imported version, or a version that an earlier release published.',
    }),
    changeCount: z.int().nonnegative().meta({
      description: 'The number of prompts that a draft changes against live, a merged version against the one before.',
    }),
    forcedEdits: z.array(ForcedEdit).meta({ description: 'Edits after publication, with `force`, oldest first.' }),
  })
  .meta({ id: 'Version' })
export type Version = Held<z.infer<typeof Version>, vocabulary.Version>

export const ListVersionsQuery = z.object({ status: VersionStatus.exactOptional() })
export type ListVersionsQuery = Held<z.input<typeof ListVersionsQuery>, vocabulary.ListVersionsQuery>

export const CreateVersionBody = absent({ name: Name }).meta({ id: 'CreateVersionBody' })
export type CreateVersionBody = Held<z.input<typeof CreateVersionBody>, vocabulary.CreateVersionBody>

export const PublishVersionBody = absent({
  title: nameText({ max: LIMITS.nameLength })
    .exactOptional()
    .meta({ description: 'If absent or empty, the title does not change.' }),
  description: text({ max: LIMITS.descriptionLength }).exactOptional().meta({ description: '`""` clears the notes.' }),
  force: z.boolean().default(false).meta({ description: 'Publish over changes that live has received meanwhile.' }),
  block: z
    .array(z.enum(RELEASE_CHECKS))
    .exactOptional()
    .meta({ description: 'Checks that refuse the release. `configuration`: settings that a run refuses.' }),
}).meta({ id: 'PublishVersionBody' })
export type PublishVersionBody = Held<z.input<typeof PublishVersionBody>, vocabulary.PublishVersionBody>

const ImportedTime = Timestamp.meta({ description: 'A UTC time with milliseconds.' })

export const ImportVersionBody = absent({
  uuid: Uuid.exactOptional().meta({
    description: 'Replaces the uuid of the draft, so that programs that refer to the version keep working.',
  }),
  title: Name,
  description: text({ max: LIMITS.descriptionLength }).exactOptional(),
  authorName: Name,
  authorEmail: nameText({ max: LIMITS.nameLength }).exactOptional(),
  createdAt: ImportedTime,
  mergedAt: ImportedTime.exactOptional().meta({ description: 'If absent, the version stays a draft.' }),
}).meta({ id: 'ImportVersionBody' })
export type ImportVersionBody = Held<z.input<typeof ImportVersionBody>, vocabulary.ImportVersionBody>

export const ChangeStatus = z.enum(CHANGE_STATUSES)
export type ChangeStatus = Held<z.infer<typeof ChangeStatus>, vocabulary.ChangeStatus>

const changeShape = {
  path: DocumentPath,
  status: ChangeStatus,
  content: z.string().exactOptional().meta({ description: 'Required for `added` and `modified`. May be `""`.' }),
  contentHash: z.string().exactOptional().meta({ description: 'Accepted and ignored.' }),
  ...expectedHashes,
}

export const Change = nullsAbsent(
  z.object(changeShape).superRefine((change, context) => {
    if (change.status !== 'added' && change.status !== 'modified') return
    const content = PromptText.safeParse(change.content)
    for (const issue of content.error?.issues ?? []) {
      context.addIssue({ code: 'custom', path: ['content'], message: issue.message })
    }
  }),
).meta({ id: 'Change' })
export type Change = Held<z.input<typeof Change>, vocabulary.Change>

export const PushChangesBody = absent({
  changes: z.array(Change).max(LIMITS.changes).meta({ description: 'One entry per path. May be empty.' }),
}).meta({ id: 'PushChangesBody' })
export type PushChangesBody = Held<z.input<typeof PushChangesBody>, vocabulary.PushChangesBody>

export const PushResult = z
  .object({
    commitUuid: Uuid,
    versionUuid: Uuid.meta({ description: 'The same as `commitUuid`.' }),
    documentsProcessed: z.int().nonnegative(),
    added: z.int().nonnegative(),
    modified: z.int().nonnegative(),
    deleted: z.int().nonnegative(),
  })
  .meta({ id: 'PushResult' })
export type PushResult = Held<z.infer<typeof PushResult>, vocabulary.PushResult>

export const RevertVersionBody = absent({
  paths: z.array(DocumentPath).min(1).max(LIMITS.changes).exactOptional(),
}).meta({ id: 'RevertVersionBody' })
export type RevertVersionBody = Held<z.input<typeof RevertVersionBody>, vocabulary.RevertVersionBody>

export const RevertResult = z
  .object({
    versionUuid: Uuid,
    reverted: z.array(
      z.object({ path: z.string(), documentUuid: Uuid, action: z.enum(['restored', 'reset', 'removed']) }),
    ),
  })
  .meta({ id: 'RevertResult' })
export type RevertResult = Held<z.infer<typeof RevertResult>, vocabulary.RevertResult>

export const DiffVersionsQuery = z.object({
  base: z.string().exactOptional().meta({
    description:
      'The uuid of a version, or `live`. Default: live for a draft, the previous number for a merged version.',
  }),
})
export type DiffVersionsQuery = Held<z.input<typeof DiffVersionsQuery>, vocabulary.DiffVersionsQuery>

export const DiffSide = z.object({ content: z.string(), contentHash: ContentHash }).meta({ id: 'DiffSide' })
export type DiffSide = Held<z.infer<typeof DiffSide>, vocabulary.DiffSide>

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
      }),
    ),
  })
  .meta({ id: 'VersionDiff' })
export type VersionDiff = Held<z.infer<typeof VersionDiff>, vocabulary.VersionDiff>

export const TreeItem = z
  .object({
    documentUuid: Uuid,
    path: z.string(),
    contentHash: ContentHash,
    change: z.enum(['added', 'modified', 'deleted']).nullable().meta({
      description: "The draft's change against live. Always null in a merged version.",
    }),
    compiles: z.boolean().nullable().meta({
      description: 'Null until this server has compiled the text with its current references.',
    }),
    isConfigured: z.boolean().nullable().meta({
      description: 'False if a run would refuse its settings. Null as for `compiles`.',
    }),
    isAgent: z.boolean().nullable().meta({
      description:
        'True if the front matter has `type: agent`. Null until this server has compiled the text with its current references.',
    }),
    updatedAt: Timestamp,
    updatedBy: Person.nullable().meta({ description: 'Null if an earlier release stored the text.' }),
  })
  .meta({ id: 'TreeItem' })
export type TreeItem = Held<z.infer<typeof TreeItem>, vocabulary.TreeItem>

export const VersionTree = z.object({ version: Version, items: z.array(TreeItem) }).meta({ id: 'VersionTree' })
export type VersionTree = Held<z.infer<typeof VersionTree>, vocabulary.VersionTree>

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
    description: 'The draft equals live until you change it.',
    pathParams: ProjectParams,
    body: CreateVersionBody,
    responses: withErrors({ 200: orRaw(Version) }),
  },
  get: {
    summary: 'Get a version',
    description: 'Takes the uuid of a version, or `live` for the published one.',
    pathParams: VersionParams,
    responses: withErrors({ 200: Version }),
  },
  publish: {
    summary: 'Publish a draft',
    description:
      'Applies the changes of the draft to live, gives it the next number and makes it live, in one step. 409 if live ' +
      'changed a path that the draft also changes: a push with `liveHash` resolves it, `force` overrides it. 422 if a ' +
      'prompt does not compile. 400 if the version is not a draft.',
    pathParams: VersionParams,
    body: PublishVersionBody,
    responses: withErrors({ 200: orRaw(Version) }),
  },
  push: {
    summary: 'Push changes to a draft',
    description: 'Applies all changes or none. 409 if a `baseHash` or `liveHash` is out of date.',
    pathParams: VersionParams,
    body: PushChangesBody,
    responses: withErrors({ 200: orRaw(PushResult) }),
  },
  revert: {
    summary: 'Revert changes of a draft',
    description: 'Drops all changes of the draft, or those at `paths`. Skips paths without a change.',
    pathParams: VersionParams,
    body: RevertVersionBody,
    responses: withErrors({ 200: orRaw(RevertResult) }),
  },
  diff: {
    summary: 'Compare two versions',
    description: 'Returns the changes of the version against its base, ordered by path.',
    pathParams: VersionParams,
    query: DiffVersionsQuery,
    responses: withErrors({ 200: orRaw(VersionDiff) }),
  },
  tree: {
    summary: "List a version's prompts without their texts",
    description:
      'Returns every prompt with its state, ordered by path. A draft also lists the prompts that it deletes from live.',
    pathParams: VersionParams,
    responses: withErrors({ 200: VersionTree }),
  },
  import: {
    summary: 'Import the history of a version',
    description:
      'Gives a draft the uuid, the names and the times of a version of another installation. With `mergedAt`, its ' +
      'prompts also become live under the next number, without being compiled. 409 if the uuid is in use.',
    pathParams: VersionParams,
    body: ImportVersionBody,
    responses: withErrors({ 200: orRaw(Version) }),
  },
}
